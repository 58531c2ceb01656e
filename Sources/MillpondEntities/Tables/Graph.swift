public import MillpondCore

/// The number of an entity in a graph, valid while the graph has its node.
@usableFromInline
typealias NodeNumber = Int32

/// The references between entities, as plain numbers in two arrays.
///
/// So a release never recurses, however long the chains are, and every walk is a loop. Edges are
/// linked lists within their array: by source, to be replaced together, and by target, to be
/// removed one by one. In the list of a target the edges of marked sources come first, so a walk up
/// visits no others, however many there are.
///
/// - Complexity: O(1) to add or remove an edge.
@usableFromInline
struct Graph: Sendable {
  @usableFromInline
  struct Node: Sendable, BitwiseCopyable {
    /// The table of the entity, and its row there.
    @usableFromInline var table: Int32
    @usableFromInline var row: Int32
    @usableFromInline var firstOut: Int32 = none
    @usableFromInline var firstIn: Int32 = none
    /// The numbers of the last walk up and the last walk down that reached the node.
    @usableFromInline var seen: UInt32 = 0
    @usableFromInline var passed: UInt32 = 0
    /// The number of the last marking that found it below a watched node.
    @usableFromInline var mark: UInt32 = 0
    /// The number of levels below it at which changes are noticed, as of that marking.
    @usableFromInline var depth: UInt8 = 0
    /// Whether the entity has a value, has observers, and is retained.
    @usableFromInline var isStored = false
    @usableFromInline var isWatched = false
    @usableFromInline var isRetained = false
  }

  @usableFromInline
  struct Edge: Sendable, BitwiseCopyable {
    @usableFromInline var source: NodeNumber
    @usableFromInline var target: NodeNumber
    @usableFromInline var nextOut: Int32
    @usableFromInline var nextIn: Int32
    /// The edge before it; of the first one, the last.
    @usableFromInline var previousIn: Int32
  }

  @usableFromInline static let none: Int32 = -1

  @usableFromInline var nodes = ChunkedArray<Node>()
  @usableFromInline var edges = ChunkedArray<Edge>()
  @usableFromInline var vacantNodes: [NodeNumber] = []
  @usableFromInline var firstVacantEdge = none
  @usableFromInline var vacantEdgeCount = 0

  /// The number of nodes and edges that have become vacant since the last compaction.
  @usableFromInline var freedCount = 0

  /// The numbers of the last walk up, the last walk down, and the current marking.
  @usableFromInline var walk: UInt32 = 0
  @usableFromInline var passage: UInt32 = 0
  @usableFromInline var marking: UInt32 = 1
  @usableFromInline var markedCount = 0

  /// The number of edges that walks have visited: the steps that readers wait for.
  var steps = 0

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

  /// Removes a node without edges.
  @usableFromInline
  mutating func removeNode(_ number: NodeNumber) {
    if nodes[Int(number)].mark == marking { markedCount -= 1 }
    nodes[Int(number)].table = Self.none
    vacantNodes.append(number)
    freedCount += 1
  }

  /// Returns whether the node is not stored, referred to, observed or retained.
  @usableFromInline
  func isLoose(_ number: NodeNumber) -> Bool {
    let node = nodes[Int(number)]
    return node.table != Self.none && node.firstIn == Self.none
      && !(node.isStored || node.isWatched || node.isRetained)
  }

  /// Replaces the references of `source` by `targets`, or a range of them; returns the former
  /// targets if they differ.
  @usableFromInline
  mutating func connect(
    _ source: NodeNumber, to targets: [NodeNumber], in range: Range<Int>? = nil
  ) -> [NodeNumber] {
    let targets = range.map { targets[$0] } ?? targets[...]
    if refers(source, exactlyTo: targets) { return [] }
    let former = disconnect(source)
    for target in targets.reversed() { addEdge(source, target) }
    if isMarked(source) { mark(below: targets, depth: depth(below: source)) }
    return former
  }

  /// Removes the references of `source`, and returns its former targets.
  @usableFromInline
  mutating func disconnect(_ source: NodeNumber) -> [NodeNumber] {
    var former: [NodeNumber] = []
    var next = nodes[Int(source)].firstOut
    while next != Self.none {
      let edge = edges[Int(next)]
      former.append(edge.target)
      unlink(next)
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

  /// Adds an edge, to the front of its target's list if the source is marked, otherwise to the end.
  @usableFromInline
  mutating func addEdge(_ source: NodeNumber, _ target: NodeNumber) {
    let edge = Edge(
      source: source, target: target, nextOut: nodes[Int(source)].firstOut, nextIn: Self.none,
      previousIn: Self.none)
    let place = firstVacantEdge == Self.none ? Int32(edges.count) : firstVacantEdge
    if firstVacantEdge == Self.none {
      edges.append(edge)
    } else {
      firstVacantEdge = edges[Int(place)].nextOut
      vacantEdgeCount -= 1
      edges[Int(place)] = edge
    }
    nodes[Int(source)].firstOut = place
    link(place, isFirst: isMarked(source))
  }

  /// Moves an edge to the front of the list of its target.
  mutating func putFirst(_ place: Int32) {
    if nodes[Int(edges[Int(place)].target)].firstIn == place { return }
    unlink(place)
    link(place, isFirst: true)
  }

  /// Inserts an edge into the list of its target.
  private mutating func link(_ place: Int32, isFirst: Bool) {
    let target = Int(edges[Int(place)].target)
    let first = nodes[target].firstIn
    if first == Self.none {
      (edges[Int(place)].nextIn, edges[Int(place)].previousIn) = (Self.none, place)
      nodes[target].firstIn = place
      return
    }
    let last = edges[Int(first)].previousIn
    edges[Int(first)].previousIn = place
    edges[Int(place)].previousIn = last
    if isFirst {
      edges[Int(place)].nextIn = first
      nodes[target].firstIn = place
    } else {
      edges[Int(place)].nextIn = Self.none
      edges[Int(last)].nextIn = place
    }
  }

  /// Removes an edge from the list of its target.
  private mutating func unlink(_ place: Int32) {
    let edge = edges[Int(place)]
    let first = nodes[Int(edge.target)].firstIn
    if first == place {
      nodes[Int(edge.target)].firstIn = edge.nextIn
    } else {
      edges[Int(edge.previousIn)].nextIn = edge.nextIn
    }
    if edge.nextIn != Self.none {
      edges[Int(edge.nextIn)].previousIn = edge.previousIn
    } else if first != place {
      edges[Int(first)].previousIn = edge.previousIn
    }
  }
}

/// Reuse of vacant places, and return of memory if most places are vacant.
extension Graph {
  @usableFromInline
  static func isSparse(_ vacantCount: Int, of count: Int) -> Bool {
    vacantCount > 1_024 && vacantCount > count / 4 * 3
  }

  /// Whether compaction is worthwhile.
  ///
  /// False for a while after a compaction, because nodes that keep their numbers may keep the
  /// memory in use.
  var isSparse: Bool {
    freedCount > (nodes.count + edges.count) / 4
      && (Self.isSparse(vacantNodes.count, of: nodes.count)
        || Self.isSparse(vacantEdgeCount, of: edges.count))
  }

  /// Compacts nodes and edges; returns the nodes whose numbers have changed.
  ///
  /// Watched and retained nodes keep their numbers, which are known elsewhere.
  ///
  /// - Complexity: O(*n*) in nodes and edges, including vacant ones; so it costs less than the
  ///   changes that vacated them.
  mutating func shrink() -> [(number: NodeNumber, node: Node)] {
    if vacantNodes.count == nodes.count {
      (nodes, edges, vacantNodes) = (ChunkedArray(), ChunkedArray(), [])
      (firstVacantEdge, vacantEdgeCount, freedCount) = (Self.none, 0, 0)
      return []
    }
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
    while nodes.count > count { nodes.removeLast() }
    freedCount = 0
    rebuildEdges(numbers)
    return moved
  }

  /// Rebuilds all edges, in the order of their sources.
  ///
  /// - Parameter numbers: The new numbers of moved nodes.
  private mutating func rebuildEdges(_ numbers: [NodeNumber: NodeNumber]) {
    let former = edges
    edges = ChunkedArray()
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
