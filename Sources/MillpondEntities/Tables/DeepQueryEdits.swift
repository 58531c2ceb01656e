import MillpondCore
import MillpondSignals

/// The edits of a commit for queries with a depth, which also notice changes of the entities that
/// theirs refer to.
@usableFromInline
protocol AnyDeepQueryEdits: AnyObject, Sendable {
  /// Adds an unchanged entity that refers to a changed one.
  ///
  /// - Parameters:
  ///   - row: The row of the entity.
  ///   - distance: The number of references in between.
  @inlinable
  func add(_ row: Int32, _ distance: Int)

  /// The notices for the subscribers.
  @inlinable
  var notices: [Notice] { get }
}

/// Sendable because only the writer uses it; the table is touched only under its lock.
@usableFromInline
final class DeepQueryEdits<E: Identifiable & Sendable>: AnyDeepQueryEdits, @unchecked Sendable
where E.ID: Sendable {
  @usableFromInline let table: EntityTable<E>
  @usableFromInline let edits: [TableEdit<E>]
  @usableFromInline let listeners: [Int: TableListener<E>]
  @usableFromInline var related: [(edit: TableEdit<E>, distance: Int)] = []

  @inlinable
  init(_ table: EntityTable<E>, _ edits: [TableEdit<E>], _ listeners: [Int: TableListener<E>]) {
    self.table = table
    self.edits = edits
    self.listeners = listeners
  }

  @inlinable
  func add(_ row: Int32, _ distance: Int) {
    guard let value = table.rows[Int(row)].value else { return }
    related.append((TableEdit(id: value.id, value: value), distance))
  }

  @inlinable
  var notices: [Notice] {
    listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
      let touched = related.filter { ReferenceGraph.reaches(listener.depth, $0.distance) }.map(
        \.edit)
      return edits.isEmpty && touched.isEmpty ? nil : listener.notice(edits + touched)
    }
  }
}
