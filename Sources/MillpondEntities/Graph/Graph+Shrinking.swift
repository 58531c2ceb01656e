/// What is vacant is used again; where that is most of it, memory is given back.
extension Graph {
  @usableFromInline
  static func isSparse(_ vacantCount: Int, of count: Int) -> Bool {
    vacantCount > 1_024 && vacantCount > count / 4 * 3
  }

  /// Not soon again, where those who keep their numbers have kept the memory.
  var isSparse: Bool {
    freedCount > (nodes.count + edges.count) / 4
      && (Self.isSparse(vacantNodes.count, of: nodes.count)
        || Self.isSparse(vacantEdgeCount, of: edges.count))
  }

  /// Moves nodes and edges together; gives the nodes that have another number now.
  ///
  /// Those who are watched or retained keep theirs, by which others know them.
  ///
  /// - Complexity: O(*n*) in nodes and edges, the vacant included; so it costs less than what has
  ///   made them vacant.
  mutating func shrink() -> [(number: NodeNumber, node: Node)] {
    let count = max(
      nodes.count - vacantNodes.count, (nodes.lastIndex { $0.isWatched || $0.isRetained } ?? -1) + 1
    )
    var vacant = vacantNodes.filter { $0 < count }
    var moved: [(number: NodeNumber, node: Node)] = []
    var numbers: [NodeNumber: NodeNumber] = [:]
    for index in count..<max(count, nodes.count) where nodes[index].table != Self.none {
      guard let number = vacant.popLast() else { continue }
      nodes[Int(number)] = nodes[index]
      moved.append((number, nodes[index]))
      numbers[NodeNumber(index)] = number
    }
    vacantNodes = vacant
    nodes = ContiguousArray(nodes.prefix(count))
    freedCount = 0
    rebuildEdges(numbers)
    return moved
  }

  /// Lists all edges anew, in the order of their sources.
  ///
  /// - Parameter numbers: Which nodes have which other number now.
  private mutating func rebuildEdges(_ numbers: [NodeNumber: NodeNumber]) {
    let former = edges
    edges = []
    edges.reserveCapacity(former.count - vacantEdgeCount)
    (firstVacantEdge, vacantEdgeCount) = (Self.none, 0)
    let starts = nodes.map { $0.table == Self.none ? Self.none : $0.firstOut }
    for index in nodes.indices { (nodes[index].firstOut, nodes[index].firstIn) = (-1, -1) }
    for (source, start) in starts.enumerated() {
      var targets: [NodeNumber] = []
      var next = start
      while next != Self.none {
        let edge = former[Int(next)]
        targets.append(numbers[edge.target] ?? edge.target)
        next = edge.nextOut
      }
      for target in targets.reversed() { addEdge(NodeNumber(source), target) }
    }
  }
}
