public import MillpondCore

/// The return of memory, when three quarters of the rows are vacant.
extension EntityTable {
  /// Moves all entities to the first rows, if most rows are vacant, and updates their nodes; returns
  /// memory to be released after the unlock.
  @inlinable
  func rebuildIfSparse(_ graph: inout ReferenceGraph) -> (any Sendable)? {
    guard areMost(vacant.count, of: rows.count) else { return nil }
    let former = (rows, vacant, index)
    (rows, vacant, index) = (PagedArray(), [], SlotIndex())
    for row in former.0 {
      guard let id = row.id else { continue }
      let place = Int32(rows.count)
      rows.append(row)
      index.insert(hash(id), place)
      graph.nodes[Int(row.node)].row = place
    }
    return former
  }

  /// Replaces the numbers of nodes.
  ///
  /// - Parameter numbers: The present numbers, by the former ones.
  @inlinable
  func renumber(_ numbers: [NodeNumber]) {
    for row in rows.indices where rows[row].id != nil {
      rows[row].node = numbers[Int(rows[row].node)]
    }
    for (id, row) in optimistic { optimistic[id]?.nodes = row.nodes.map { numbers[Int($0)] } }
  }
}

/// Returns whether so many places are vacant that the memory is to be given back.
@inlinable
func areMost(_ vacantCount: Int, of placeCount: Int) -> Bool {
  vacantCount > 1_024 && vacantCount > placeCount / 4 * 3
}
