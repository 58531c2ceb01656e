import MillpondCore

/// The return of memory after large removals.
extension EntityTables {
  /// Rebuilds everything if a part is three quarters empty, at the end of a commit: then no numbers
  /// of nodes or rows are in use elsewhere.
  ///
  /// - Parameter released: Collects the former memory, to be released after the unlock.
  mutating func rebuildIfSparse(_ released: inout [any Sendable]) {
    guard graph.isSparse || tables.contains(where: { $0.isSparse() }) else { return }
    let (numbers, former) = graph.rebuild()
    released.append(former)
    for table in tables { released.append(table.rebuild(numbers, &graph)) }
    func renumbered<Value>(_ values: [NodeNumber: Value]) -> [NodeNumber: Value] {
      Dictionary(uniqueKeysWithValues: values.map { (numbers[Int($0.key)], $0.value) })
    }
    (watches, retains) = (renumbered(watches), renumbered(retains))
  }
}

extension ReferenceGraph {
  /// Whether three quarters of the nodes or the edges are vacant.
  var isSparse: Bool {
    areMost(vacantNodes.count, of: nodes.count) || areMost(vacantEdges.count, of: edges.count)
  }

  /// Moves all nodes and edges to the first places.
  ///
  /// - Returns: The present numbers of the nodes, by the former ones; and memory to be released
  ///   after the unlock.
  mutating func rebuild() -> (numbers: [NodeNumber], former: any Sendable) {
    let former = self
    (nodes, vacantNodes) = (ChunkedArray(), [])
    (edges, vacantEdges) = (ChunkedArray(), [])
    var numbers = [NodeNumber](repeating: Self.none, count: former.nodes.count)
    for (number, node) in former.nodes.enumerated() where node.table != Self.none {
      numbers[number] = NodeNumber(nodes.count)
      var node = node
      (node.firstOut, node.firstIn) = (Self.none, Self.none)
      nodes.append(node)
    }
    for (number, node) in former.nodes.enumerated() where node.table != Self.none {
      var (targets, next): ([NodeNumber], _) = ([], node.firstOut)
      while next != Self.none {
        targets.append(numbers[Int(former.edges[Int(next)].target)])
        next = former.edges[Int(next)].nextOut
      }
      for target in targets.reversed() { addEdge(numbers[number], target) }
    }
    return (numbers, former)
  }
}
