public import MillpondSignals

extension EntityTable {
  /// Adds or removes a subscriber.
  ///
  /// - Returns: The removed subscriber, to be released after the unlock.
  @inlinable
  func setListener(_ listener: TableListener<E>?, _ number: Int) -> TableListener<E>? {
    let former = listeners.removeValue(forKey: number)
    listeners[number] = listener
    depth = listeners.values.lazy.map(\.depth).max() ?? 0
    return former
  }

  /// - Parameters:
  ///   - edits: The edits of a commit.
  ///   - confirmed: The edits for copies, which see only confirmed values; nil for the same.
  ///   - isSilent: Whether queries are left out.
  ///   - last: The number of the last subscriber that has not seen the edits yet.
  @inlinable
  func notices(
    of edits: [TableEdit<E>], confirmed: [TableEdit<E>]? = nil, isSilent: Bool = false,
    upTo last: Int = .max
  ) -> [Notice] {
    if edits.isEmpty, confirmed?.isEmpty != false { return [] }
    if listeners.isEmpty { return [] }
    if depth > 0, !isSilent { deepEdits = edits }
    return listeners.sorted { $0.key < $1.key }.compactMap { number, listener in
      if number > last || listener.depth > 0 || isSilent && listener.isQuery { return nil }
      let edits = listener.isQuery ? edits : confirmed ?? edits
      return edits.isEmpty ? nil : listener.notice(edits)
    }
  }

  /// Returns the subscribers with a depth, and the edits of the present commit for them; nil if
  /// there are none.
  ///
  /// - Parameter last: The number of the last subscriber that has not seen the changes yet.
  @inlinable
  func takeDeepEdits(upTo last: Int) -> DeepQueryEdits? {
    let edits = exchange(&deepEdits, with: [])
    if depth == 0 { return nil }
    let listeners = listeners.filter { $0.key <= last && $0.value.depth > 0 }
    return listeners.isEmpty ? nil : DeepQueryEdits(self, edits, listeners)
  }
}

/// The edits of a commit for queries with a depth, which also notice changes of the entities that
/// theirs refer to.
@usableFromInline
struct DeepQueryEdits: Sendable {
  /// Adds an unchanged entity that refers to a changed one, given its row and the number of
  /// references in between; called under the lock.
  @usableFromInline let add: @Sendable (_ row: Int32, _ distance: Int) -> Void

  /// Returns the notices for the subscribers.
  @usableFromInline let notices: @Sendable () -> [Notice]

  @inlinable
  init<E: Identifiable & Sendable>(
    _ table: EntityTable<E>, _ edits: [TableEdit<E>], _ listeners: [Int: TableListener<E>]
  ) where E.ID: Sendable {
    // Touched only by the writer.
    let related = SerialState<[(edit: TableEdit<E>, distance: Int)]>([])
    add = { row, distance in
      guard let value = table.rows[Int(row)].value else { return }
      related.value.append((TableEdit(id: value.id, value: value), distance))
    }
    notices = {
      listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
        let touched = related.value
          .filter { ReferenceGraph.reaches(listener.depth, $0.distance) }.map(\.edit)
        return edits.isEmpty && touched.isEmpty ? nil : listener.notice(edits + touched)
      }
    }
  }
}
