public import MillpondCore
import MillpondSignals

/// All that a store knows of one type: a row for each identity that is stored, referred to, observed
/// or retained.
@usableFromInline
final class EntityTable<E: Identifiable & Sendable>: @unchecked Sendable where E.ID: Sendable {
  // Sendable because its variables are touched only under the lock of the tables that it is among.
  @usableFromInline
  struct Row {
    /// Nil of a row that is vacant.
    @usableFromInline let id: E.ID?
    @usableFromInline var node: NodeNumber
    @usableFromInline var value: E?

    /// When it was last set or asked for.
    @usableFromInline var touched: Int64 = 0

    /// The last write of it; what a source brings is none.
    @usableFromInline var written = Revision.none

    /// When it was last set or filled: of several within one step of the clock, the order.
    @usableFromInline var stored = Revision.none

    @inlinable
    init(id: E.ID?, node: NodeNumber) {
      self.id = id
      self.node = node
    }
  }

  /// What it is called in the graph.
  @usableFromInline let number: Int32
  @exclusivity(unchecked) @usableFromInline var rows: ContiguousArray<Row> = []
  @exclusivity(unchecked) @usableFromInline var listeners: [Int: TableListener<E>] = [:]

  /// Which writes and fills are admitted, by what is written in the rows and what has left them.
  @exclusivity(unchecked) @usableFromInline var order = WriteOrder<E.ID>()

  @exclusivity(unchecked) @usableFromInline var index = SlotIndex()
  @usableFromInline var vacant: [Int32] = []

  @inlinable
  init(number: Int32) {
    self.number = number
  }

  @inlinable
  func row(of id: E.ID) -> Int32? {
    index.find(hash(id)) { rows[Int($0)].id == id }
  }

  /// Where an entity is, and what it is now.
  @inlinable
  func find(_ id: E.ID) -> (row: Int32?, value: E?) {
    let row = row(of: id)
    guard let row else { return (nil, nil) }
    return (row, rows[Int(row)].value)
  }

  /// The node of `id`, which is made if there is none.
  @inlinable
  func node(of id: E.ID, in graph: inout Graph) -> NodeNumber {
    if let row = row(of: id) { return rows[Int(row)].node }
    let row = vacant.popLast() ?? Int32(rows.count)
    let node = graph.addNode(table: number, row: row)
    if Int(row) == rows.count {
      rows.append(Row(id: id, node: node))
    } else {
      rows[Int(row)] = Row(id: id, node: node)
    }
    index.insert(hash(id), row)
    return node
  }

  /// Whether a write with a place of its own is admitted as it arrives; it is remembered at once.
  @inlinable
  func admits(_ revision: Revision, for id: E.ID) -> Bool {
    guard order.admit(id, revision, over: written(id)) else { return false }
    order.remember(id, revision)
    return true
  }

  /// The last write of an entity, as far as its row tells.
  @inlinable
  func written(_ id: E.ID) -> Revision {
    row(of: id).map { rows[Int($0)].written } ?? .none
  }

  /// The identities of all that is stored, but for what was written after `revision`.
  @inlinable
  func storedIDs(until revision: Revision = .last) -> [E.ID] {
    rows.compactMap { $0.value == nil || $0.written > revision ? nil : $0.id }
  }

  @inlinable
  var storedNodes: [NodeNumber] {
    rows.compactMap { $0.value == nil ? nil : $0.node }
  }

  /// All that is stored, as if it had just been set.
  @inlinable
  var storedEdits: [TableEdit<E>] {
    rows.compactMap { row in
      row.value.map { TableEdit(id: $0.id, value: $0) }
    }
  }

  @inlinable
  func hash(_ id: E.ID) -> UInt32 {
    UInt32(truncatingIfNeeded: id.mixedHash)
  }
}

/// What a commit has done to an entity: the value it has now, or none.
@usableFromInline
package struct TableEdit<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  @usableFromInline package let id: E.ID
  @usableFromInline package let value: E?

  @inlinable
  init(id: E.ID, value: E?) {
    self.id = id
    self.value = value
  }
}

/// Someone who is told of every commit that touches a type.
@usableFromInline
struct TableListener<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  /// Whether it keeps what is in the table from being pruned.
  @usableFromInline let isQuery: Bool
  @usableFromInline let notice: @Sendable ([TableEdit<E>]) -> Notice

  @inlinable
  init(isQuery: Bool, notice: @escaping @Sendable ([TableEdit<E>]) -> Notice) {
    self.isQuery = isQuery
    self.notice = notice
  }
}

/// What is to be called, outside of any lock, to tell one observer of one commit.
@usableFromInline
typealias Notice = @Sendable () -> Void
