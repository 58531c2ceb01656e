/// The number of an entity in a graph, for as long as anything is known of it.
@usableFromInline
typealias NodeNumber = Int32

/// Who refers to whom: plain numbers in two arrays, so that nothing here is ever released in turn,
/// however long the chains are, and every walk is a loop.
///
/// Edges are linked lists within their array: by source, to be replaced together, and by target, to
/// be taken out one by one.
///
/// - Complexity: O(1) to add or remove an edge.
@usableFromInline
struct Graph: Sendable {
  @usableFromInline
  struct Node: Sendable {
    /// Where the entity is: which table, and which row there.
    @usableFromInline var table: Int32
    @usableFromInline var row: Int32
    @usableFromInline var firstOut: Int32 = none
    @usableFromInline var firstIn: Int32 = none
    /// The last walk up that has come here, and the last one down.
    @usableFromInline var seen: UInt32 = 0
    @usableFromInline var passed: UInt32 = 0
    /// The marking in which it was found to be below someone who is watched.
    @usableFromInline var mark: UInt32 = 0
    /// Whether there is a value, whether anyone observes it, and whether it is retained.
    @usableFromInline var isStored = false
    @usableFromInline var isWatched = false
    @usableFromInline var isRetained = false
  }

  @usableFromInline
  struct Edge: Sendable {
    @usableFromInline var source: NodeNumber
    @usableFromInline var target: NodeNumber
    @usableFromInline var nextOut: Int32
    @usableFromInline var nextIn: Int32
    @usableFromInline var previousIn: Int32
  }

  @usableFromInline static let none: Int32 = -1

  @usableFromInline var nodes: ContiguousArray<Node> = []
  @usableFromInline var edges: ContiguousArray<Edge> = []
  @usableFromInline var vacantNodes: [NodeNumber] = []
  @usableFromInline var firstVacantEdge = none
  @usableFromInline var vacantEdgeCount = 0

  /// How many nodes and edges have become vacant since all were moved together.
  @usableFromInline var freedCount = 0

  /// The last walk up, the last one down, and the marking that is in force.
  @usableFromInline var walk: UInt32 = 0
  @usableFromInline var passage: UInt32 = 0
  @usableFromInline var marking: UInt32 = 1
  @usableFromInline var markedCount = 0

  @usableFromInline
  mutating func addNode(table: Int32, row: Int32) -> NodeNumber {
    let node = Node(table: table, row: row)
    if let number = vacantNodes.popLast() {
      nodes[Int(number)] = node
      return number
    }
    nodes.append(node)
    return NodeNumber(nodes.count - 1)
  }

  /// Forgets a node that has no edges.
  @usableFromInline
  mutating func removeNode(_ number: NodeNumber) {
    if nodes[Int(number)].mark == marking { markedCount -= 1 }
    nodes[Int(number)].table = Self.none
    vacantNodes.append(number)
    freedCount += 1
  }

  /// Whether it means nothing to anyone any more.
  @usableFromInline
  func isLoose(_ number: NodeNumber) -> Bool {
    let node = nodes[Int(number)]
    return node.table != Self.none && node.firstIn == Self.none
      && !(node.isStored || node.isWatched || node.isRetained)
  }

  /// Makes `targets`, or a range of them, what `source` refers to; gives what it does not refer to any
  /// more.
  @usableFromInline
  mutating func connect(
    _ source: NodeNumber, to targets: [NodeNumber], in range: Range<Int>? = nil
  ) -> [NodeNumber] {
    let targets = range.map { targets[$0] } ?? targets[...]
    if refers(source, exactlyTo: targets) { return [] }
    let former = disconnect(source)
    for target in targets.reversed() { addEdge(source, target) }
    if isMarked(source) { mark(below: targets) }
    return former
  }

  /// Takes away what `source` refers to, and gives it.
  @usableFromInline
  mutating func disconnect(_ source: NodeNumber) -> [NodeNumber] {
    var former: [NodeNumber] = []
    var next = nodes[Int(source)].firstOut
    while next != Self.none {
      let edge = edges[Int(next)]
      former.append(edge.target)
      unlink(edge)
      edges[Int(next)].nextOut = firstVacantEdge
      firstVacantEdge = next
      vacantEdgeCount += 1
      freedCount += 1
      next = edge.nextOut
    }
    nodes[Int(source)].firstOut = Self.none
    return former
  }

  @usableFromInline
  func refers(_ source: NodeNumber, exactlyTo targets: ArraySlice<NodeNumber>) -> Bool {
    var next = nodes[Int(source)].firstOut
    for target in targets {
      guard next != Self.none, edges[Int(next)].target == target else { return false }
      next = edges[Int(next)].nextOut
    }
    return next == Self.none
  }

  @usableFromInline
  mutating func addEdge(_ source: NodeNumber, _ target: NodeNumber) {
    let edge = Edge(
      source: source, target: target, nextOut: nodes[Int(source)].firstOut,
      nextIn: nodes[Int(target)].firstIn, previousIn: Self.none)
    let place = firstVacantEdge == Self.none ? Int32(edges.count) : firstVacantEdge
    if firstVacantEdge == Self.none {
      edges.append(edge)
    } else {
      firstVacantEdge = edges[Int(place)].nextOut
      vacantEdgeCount -= 1
      edges[Int(place)] = edge
    }
    if edge.nextIn != Self.none { edges[Int(edge.nextIn)].previousIn = place }
    nodes[Int(source)].firstOut = place
    nodes[Int(target)].firstIn = place
  }

  /// Takes an edge out of the list of its target.
  @usableFromInline
  mutating func unlink(_ edge: Edge) {
    if edge.nextIn != Self.none { edges[Int(edge.nextIn)].previousIn = edge.previousIn }
    if edge.previousIn != Self.none {
      edges[Int(edge.previousIn)].nextIn = edge.nextIn
    } else {
      nodes[Int(edge.target)].firstIn = edge.nextIn
    }
  }
}

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
