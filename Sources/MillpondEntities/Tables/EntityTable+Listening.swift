import MillpondSignals

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
  @inlinable
  func notices(
    of edits: [TableEdit<E>], confirmed: [TableEdit<E>]? = nil, isSilent: Bool = false
  ) -> [Notice] {
    if edits.isEmpty, confirmed?.isEmpty != false { return [] }
    if listeners.isEmpty { return [] }
    if depth > 0, !isSilent { deepEdits = edits }
    return listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
      if listener.depth > 0 || isSilent && listener.isQuery { return nil }
      let edits = listener.isQuery ? edits : confirmed ?? edits
      return edits.isEmpty ? nil : listener.notice(edits)
    }
  }

  /// Returns the notices of the present commit for queries with a depth, which also notice changes
  /// of what their entities refer to.
  ///
  /// - Parameter related: The rows of unchanged entities that refer to changed ones, and the number
  ///   of references in between.
  @inlinable
  func deepNotices(_ related: [(row: Int32, distance: Int)]) -> [Notice] {
    let edits = exchange(&deepEdits, with: [])
    return listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
      if listener.depth == 0 { return nil }
      let touched = related.compactMap { row, distance in
        ReferenceGraph.reaches(listener.depth, distance)
          ? rows[Int(row)].value.map { TableEdit(id: $0.id, value: $0) } : nil
      }
      return edits.isEmpty && touched.isEmpty ? nil : listener.notice(edits + touched)
    }
  }
}
