public import MillpondCore

/// The return of memory, when three quarters of the rows are vacant.
extension EntityTable {
  @inlinable
  var isSparse: Bool {
    areMost(vacant.count, of: rows.count)
  }

  /// Moves all entities to the first rows, and returns memory to be released after the unlock.
  ///
  /// - Parameters:
  ///   - numbers: The present numbers of the nodes, by the former ones.
  ///   - graph: The graph, whose nodes receive their rows.
  @inlinable
  func rebuild(_ numbers: [NodeNumber], _ graph: inout ReferenceGraph) -> any Sendable {
    let former = (rows, vacant, index)
    (rows, vacant, index) = ([], [], SlotIndex())
    for var row in former.0 {
      guard let id = row.id else { continue }
      let place = Int32(rows.count)
      row.node = numbers[Int(row.node)]
      graph.nodes[Int(row.node)].row = place
      rows.append(row)
      index.insert(hash(id), place)
    }
    for (id, row) in optimistic { optimistic[id]?.nodes = row.nodes.map { numbers[Int($0)] } }
    return former
  }
}

/// Returns whether so many places are vacant that the memory is to be given back.
@inlinable
func areMost(_ vacantCount: Int, of placeCount: Int) -> Bool {
  vacantCount > 1_024 && vacantCount > placeCount / 4 * 3
}
