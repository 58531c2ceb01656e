import MillpondCore
import MillpondSignals

/// The return of memory, in steps between which the lock may be free.
extension ReferenceGraph {
  /// Whether compaction is worthwhile.
  ///
  /// False for a while after a compaction, because nodes that keep their numbers may keep the
  /// memory in use.
  var isSparse: Bool {
    freedCount > (nodes.count + edges.count) / 4
      && (vacantNodes.areMost(of: nodes.count) || vacantEdges.areMost(of: edges.count))
  }

  /// Gives up the last places; their nodes move to vacant ones.
  ///
  /// Watched and retained nodes keep their numbers, which are known elsewhere.
  ///
  /// - Parameters:
  ///   - count: The greatest number of places.
  ///   - onMove: Receives each moved node, and its former and present numbers.
  /// - Returns: Whether there are more to be given up.
  mutating func giveUpNodes(
    atMost count: Int,
    _ onMove: (_ node: Node, _ former: NodeNumber, _ present: NodeNumber) -> Void
  ) -> Bool {
    for _ in 0..<count {
      guard vacantNodes.count > 0, let node = nodes.last else { return false }
      if node.table == Self.none {
        vacantNodes.giveUpLast()
      } else {
        let last = nodes.count - 1
        guard !node.isWatched, !node.isRetained, let place = vacantNodes.take(before: last) else {
          return false
        }
        nodes[Int(place)] = node
        onMove(node, NodeNumber(last), place)
      }
      nodes.removeLast()
    }
    return vacantNodes.count > 0
  }

  /// Returns all memory if there are no nodes, to be released after the unlock.
  mutating func takeIfEmpty() -> (any Sendable)? {
    guard vacantNodes.count == nodes.count else { return nil }
    let former = (nodes, vacantNodes, takeEdges())
    (nodes, vacantNodes) = (ChunkedArray(), FreeList())
    return former
  }

  /// Takes all edges out, to be put back by ``rebuildEdges(in:from:_:)``; and their free list, to
  /// be released after the unlock.
  mutating func takeEdges() -> (edges: ChunkedArray<Edge>, vacant: FreeList) {
    freedCount = 0
    return (exchange(&edges, with: ChunkedArray()), exchange(&vacantEdges, with: FreeList()))
  }

  /// Empties the lists of edges to the nodes in a range.
  mutating func unlinkSources(of range: Range<Int>) {
    for index in range.clamped(to: nodes.indices) { nodes[index].firstIn = Self.none }
  }

  /// Rebuilds the edges from the nodes in a range, whose numbers are in `present`.
  mutating func rebuildEdges(
    in range: Range<Int>, from former: ChunkedArray<Edge>, _ present: (NodeNumber) -> NodeNumber
  ) {
    for source in range.clamped(to: nodes.indices) {
      var next = nodes[source].table == Self.none ? Self.none : nodes[source].firstOut
      nodes[source].firstOut = Self.none
      var targets: [NodeNumber] = []
      while next != Self.none {
        let edge = former[Int(next)]
        targets.append(present(edge.target))
        next = edge.nextOut
      }
      for target in targets.reversed() { addEdge(NodeNumber(source), target) }
    }
  }
}

/// The present numbers of nodes that have moved.
struct MovedNodes: Sendable {
  private var numbers = SparseArray(common: ReferenceGraph.none)

  mutating func add(_ former: NodeNumber, _ present: NodeNumber) {
    numbers[former] = present
  }

  /// Returns the present number of a node, which may have moved several times.
  func present(_ node: NodeNumber) -> NodeNumber {
    var present = node
    while numbers[present] != ReferenceGraph.none { present = numbers[present] }
    return present
  }
}
