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
struct ReferenceGraph: Sendable {
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
    /// The number of the last marking that found it at or below a watched or listed node.
    @usableFromInline var mark: UInt32 = 0
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
  @usableFromInline var vacantEdges: [Int32] = []

  /// The numbers of the last walk up, the last walk down, and the current marking.
  @usableFromInline var walk: UInt32 = 0
  @usableFromInline var passage: UInt32 = 0
  @usableFromInline var marking: UInt32 = 1
  @usableFromInline var markedCount = 0

  /// The number of edges that walks have visited.
  var steps = 0

  @usableFromInline
  mutating func addNode(table: Int32, row: Int32) -> NodeNumber {
    let number = vacantNodes.popLast() ?? NodeNumber(nodes.count)
    nodes.put(Node(table: table, row: row), at: number)
    return number
  }

  /// Removes a node without edges.
  @usableFromInline
  mutating func removeNode(_ number: NodeNumber) {
    if nodes[Int(number)].mark == marking { markedCount -= 1 }
    nodes[Int(number)].table = Self.none
    vacantNodes.append(number)
  }

  /// Returns whether the node is not stored, referred to, observed or retained.
  @usableFromInline
  func isLoose(_ number: NodeNumber) -> Bool {
    let node = nodes[Int(number)]
    return node.table != Self.none && node.firstIn == Self.none
      && !(node.isStored || node.isWatched || node.isRetained)
  }

  /// Replaces the references of `source` by `targets`.
  ///
  /// - Parameter former: Receives the former targets, if they differ.
  @usableFromInline
  mutating func connect(
    _ source: NodeNumber, to targets: ArraySlice<NodeNumber>, former: inout [NodeNumber]
  ) {
    if refers(source, exactlyTo: targets) { return }
    disconnect(source, &former)
    for target in targets.reversed() { addEdge(source, target) }
    if isMarked(source) { mark(below: targets) }
  }

  /// Removes the references of `source`.
  ///
  /// - Parameter former: Receives the former targets.
  @usableFromInline
  mutating func disconnect(_ source: NodeNumber, _ former: inout [NodeNumber]) {
    var next = nodes[Int(source)].firstOut
    while next != Self.none {
      let edge = edges[Int(next)]
      former.append(edge.target)
      unlink(next)
      vacantEdges.append(next)
      next = edge.nextOut
    }
    nodes[Int(source)].firstOut = Self.none
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
    let place = vacantEdges.popLast() ?? Int32(edges.count)
    edges.put(edge, at: place)
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

/// The numbers of walks, which reset the traces of old walks before they recur.
extension ReferenceGraph {
  mutating func beginWalk() {
    walk = number(after: walk) { $0.seen = 0 }
  }

  mutating func beginPassage() {
    passage = number(after: passage) { $0.passed = 0 }
  }

  mutating func pass(_ number: NodeNumber, _ waiting: inout [NodeNumber]) {
    guard nodes[Int(number)].passed != passage else { return }
    nodes[Int(number)].passed = passage
    waiting.append(number)
  }

  mutating func beginMarking() {
    marking = number(after: marking) { $0.mark = 0 }
    markedCount = 0
  }

  /// Returns the next number; before the numbers begin again, `wipe` resets the trace in each node.
  private mutating func number(after last: UInt32, _ wipe: (inout Node) -> Void) -> UInt32 {
    if last < .max { return last + 1 }
    for index in nodes.indices { wipe(&nodes[index]) }
    return 1
  }
}
