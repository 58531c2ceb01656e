public import MillpondCore

extension EntityTable {
  /// Empties rows whose entities are not observed; returns the notices for queries and copies.
  @inlinable
  func empty(_ emptied: [Int32]) -> (released: any Sendable, notices: [Notice]) {
    let edits = (listeners.isEmpty ? [] : emptied).compactMap { row in
      rows[Int(row)].id.map { TableEdit<E>(id: $0, value: nil) }
    }
    let old = emptied.map { row in
      forgetWrite(row)
      return rows[Int(row)].value.take()
    }
    return ((old, order.takeForgotten()), notices(of: edits))
  }

  /// Moves the last write of a row's entity to the memory of the write order.
  @inlinable
  func forgetWrite(_ row: Int32) {
    let revision = rows[Int(row)].written
    if revision != .none, let id = rows[Int(row)].id { order.forget(id, revision) }
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
