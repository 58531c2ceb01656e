public import MillpondCore

extension EntityTable {
  /// Empties rows whose entities are not observed.
  @inlinable
  func empty(_ emptied: [Int32], _ commit: inout Commit) {
    let old = emptied.map { row in
      let written = rows[Int(row)].written
      if written != .none, let id = rows[Int(row)].id { order.forget(id, written) }
      return rows[Int(row)].value.take()
    }
    commit.released.append(old)
    finish(&commit) {
      emptied.compactMap { row in rows[Int(row)].id.map { TableEdit(id: $0, value: nil) } }
    }
  }

  /// Frees an empty row, and returns its contents for release after the unlock.
  @inlinable
  func forget(_ row: Int32) -> any Sendable {
    let old = rows[Int(row)]
    guard let id = old.id else { return () }
    rows[Int(row)] = Row(id: nil, node: ReferenceGraph.none)
    index.removeShrinking(hash(id), row)
    vacant.append(row)
    return id
  }
}
