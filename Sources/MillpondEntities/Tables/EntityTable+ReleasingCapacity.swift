public import MillpondCore

extension EntityTable {
  /// Gives up the last rows, whose entities move to vacant ones, and updates the nodes.
  ///
  /// - Parameters:
  ///   - graph: The graph of the nodes.
  ///   - count: The greatest number of rows.
  /// - Returns: Whether there are more, and memory to be released after the unlock.
  @inlinable
  func shrink(
    _ graph: inout ReferenceGraph, atMost count: Int
  ) -> (goesOn: Bool, released: (any Sendable)?) {
    if vacant.count == rows.count {
      let former = (rows, vacant, index)
      (rows, vacant, index) = (PagedArray(), FreeList(), SlotIndex())
      return (false, former)
    }
    for _ in 0..<count where vacant.count > 0 { giveUpLastRow(&graph) }
    return (vacant.count > 0, nil)
  }

  @inlinable
  func giveUpLastRow(_ graph: inout ReferenceGraph) {
    let last = rows.count - 1
    if let id = rows[last].id, let place = vacant.take(before: last) {
      rows[Int(place)] = rows[last]
      graph.nodes[Int(rows[last].node)].row = place
      index.move(hash(id), from: Int32(last), to: place)
    } else {
      vacant.giveUpLast()
    }
    rows.removeLast()
  }
}
