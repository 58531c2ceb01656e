import MillpondSignals

extension EntityTable {
  /// The greatest depth of the subscribers.
  @inlinable
  var depth: Int {
    listeners.values.lazy.map(\.depth).max() ?? 0
  }

  /// Returns the notices of the present commit.
  ///
  /// - Parameters:
  ///   - related: The rows of unchanged entities that refer to changed ones, and the number of
  ///     references in between.
  ///   - isSilent: Whether queries are left out.
  @inlinable
  func takeNotices(_ related: [(row: Int32, distance: Int)], isSilent: Bool) -> [Notice] {
    let (visible, confirmed) = exchange(&announced, with: ([], []))
    return listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
      if listener.isQuery, isSilent { return nil }
      var edits = listener.isQuery ? visible : confirmed
      for (row, distance) in related where distance <= listener.depth {
        if let value = rows[Int(row)].value { edits.append(TableEdit(id: value.id, value: value)) }
      }
      return edits.isEmpty ? nil : listener.notice(edits)
    }
  }
}
