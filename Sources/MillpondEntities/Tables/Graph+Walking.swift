import MillpondCore

extension Graph {
  /// Returns the watched nodes that are among `changed`, or refer to them directly or indirectly.
  ///
  /// The walk goes up only through marked nodes, which may have a watched node above them.
  ///
  /// - Complexity: O(*n*) in the marked nodes above `changed`, and the references between them.
  mutating func watched(above changed: some Sequence<NodeNumber>) -> [NodeNumber] {
    beginWalk()
    var found: [NodeNumber] = []
    var waiting: [NodeNumber] = []
    for number in changed { _ = reach(number, &waiting) }
    while let number = waiting.popLast() {
      if nodes[Int(number)].isWatched { found.append(number) }
      var next = nodes[Int(number)].firstIn
      while next != Self.none, reach(edges[Int(next)].source, &waiting) {
        next = edges[Int(next)].nextIn
        steps += 1
      }
    }
    return found
  }

  /// Returns, for each node of the last walk up, which of up to 64 nodes are below it or the node
  /// itself: a bit for each.
  ///
  /// A node is visited again only when it gets more bits, so thousands of observers do not each
  /// search for the same change.
  ///
  /// - Complexity: O(*n*) in the nodes above `origins`, and at most 64 times that.
  mutating func origins(above origins: some Collection<NodeNumber>) -> [NodeNumber: UInt64] {
    var below: [NodeNumber: UInt64] = [:]
    for (bit, origin) in origins.enumerated() where nodes[Int(origin)].seen == walk {
      below[origin, default: 0] |= 1 << UInt64(bit)
    }
    var waiting = Array(below.keys)
    while let number = waiting.popLast() {
      let bits = below[number] ?? 0
      forEachMarkedSource(of: number) { source in
        let known = below[source] ?? 0
        if known | bits == known { return }
        below[source] = known | bits
        waiting.append(source)
      }
    }
    return below
  }

  /// Visits the marked nodes that refer to a node: their edges come first.
  private mutating func forEachMarkedSource(
    of number: NodeNumber, _ body: (NodeNumber) -> Void
  ) {
    var next = nodes[Int(number)].firstIn
    while next != Self.none {
      let edge = edges[Int(next)]
      steps += 1
      guard isMarked(edge.source) else { return }
      if nodes[Int(edge.source)].seen == walk { body(edge.source) }
      next = edge.nextIn
    }
  }

  /// Adds a node to the walk if it is marked at any depth; false if it is not marked at all, and
  /// then no later edge of its list is.
  private mutating func reach(_ number: NodeNumber, _ waiting: inout [NodeNumber]) -> Bool {
    let index = Int(number)
    guard isMarked(number) else { return false }
    if nodes[index].seen == walk || nodes[index].depth < Self.anyDepth { return true }
    nodes[index].seen = walk
    waiting.append(number)
    return true
  }

  /// Visits the nodes of the last walk up that are below `top`, including `top`.
  mutating func reached(below top: NodeNumber, visit: (NodeNumber) -> Void) {
    beginPassage()
    var waiting = [top]
    nodes[Int(top)].passed = passage
    while let number = waiting.popLast() {
      visit(number)
      forEachTarget(of: number) { graph, target in
        let index = Int(target)
        guard graph.nodes[index].seen == graph.walk, graph.nodes[index].passed != graph.passage
        else { return }
        graph.nodes[index].passed = graph.passage
        waiting.append(target)
      }
    }
  }

  /// Passes the nodes below those in `waiting`; stops after `count` nodes, and leaves the others in
  /// `waiting`.
  ///
  /// - Parameter count: The greatest number of nodes to take from `waiting`.
  mutating func pass(below waiting: inout [NodeNumber], atMost count: Int) {
    var left = count
    while left > 0, let number = waiting.popLast() {
      forEachTarget(of: number) { $0.pass($1, &waiting) }
      left -= 1
    }
  }

  /// Returns whether the last walk down has passed the node.
  func wasPassed(_ number: NodeNumber) -> Bool {
    nodes[Int(number)].passed == passage
  }

  mutating func pass(_ number: NodeNumber, _ waiting: inout [NodeNumber]) {
    guard nodes[Int(number)].passed != passage else { return }
    nodes[Int(number)].passed = passage
    waiting.append(number)
  }

  private mutating func forEachTarget(
    of number: NodeNumber, _ body: (inout Graph, NodeNumber) -> Void
  ) {
    var next = nodes[Int(number)].firstOut
    while next != Self.none {
      let edge = edges[Int(next)]
      steps += 1
      body(&self, edge.target)
      next = edge.nextOut
    }
  }
}

// MARK: - Listed nodes

extension Graph {
  /// Returns the nodes of listed tables that refer to `changed` within the depth of their table,
  /// and the number of references in between; not those that are among `changed`.
  ///
  /// The walk goes up level by level, so each node is found at its smallest distance.
  ///
  /// - Parameters:
  ///   - changed: The changed nodes.
  ///   - depths: The depth of each table; zero for one that is not listed.
  /// - Complexity: O(*n*) in the marked nodes above `changed`, up to the greatest depth, and the
  ///   references between them.
  mutating func listed(
    above changed: [NodeNumber], _ depths: [UInt8]
  ) -> [(number: NodeNumber, distance: Int)] {
    beginWalk()
    var found: [(number: NodeNumber, distance: Int)] = []
    var level = changed
    for number in changed { nodes[Int(number)].seen = walk }
    var distance = 0
    while !level.isEmpty {
      distance += 1
      var above: [NodeNumber] = []
      for number in level { climb(from: number, distance, &above) }
      for number in above {
        let node = nodes[Int(number)]
        if node.isStored, Self.reaches(depths[Int(node.table)], distance) {
          found.append((number, distance))
        }
      }
      level = above
    }
    return found
  }

  /// Adds the marked nodes that refer to a node, and are close enough to a root.
  private mutating func climb(
    from number: NodeNumber, _ distance: Int, _ above: inout [NodeNumber]
  ) {
    var next = nodes[Int(number)].firstIn
    while next != Self.none {
      let edge = edges[Int(next)]
      steps += 1
      guard isMarked(edge.source) else { return }
      let source = nodes[Int(edge.source)]
      if source.seen != walk, Self.reaches(source.depth, distance) {
        nodes[Int(edge.source)].seen = walk
        above.append(edge.source)
      }
      next = edge.nextIn
    }
  }

  /// Returns whether a change at a distance is noticed.
  @usableFromInline
  static func reaches(_ depth: UInt8, _ distance: Int) -> Bool {
    depth == anyDepth || Int(depth) >= distance
  }
}

// MARK: - Marks

/// Marks, which cover every node below a watched one, and those below listed ones to a depth.
///
/// Stale marks may remain. They cost time and nothing else, so they need not be removed at once.
extension Graph {
  /// The depth of nodes whose observers are notified of changes at any depth.
  @usableFromInline static var anyDepth: UInt8 { .max }

  /// Returns whether changes below the node are noticed.
  @usableFromInline
  func isMarked(_ number: NodeNumber) -> Bool {
    nodes[Int(number)].mark == marking
  }

  /// Returns the depth of the nodes that a marked node refers to.
  func depth(below number: NodeNumber) -> UInt8 {
    let depth = nodes[Int(number)].depth
    return depth == Self.anyDepth ? depth : depth - 1
  }

  /// Marks `roots` and the nodes below them: those at which a change is noticed, except the lowest
  /// level, below which none is.
  ///
  /// - Parameters:
  ///   - roots: The uppermost nodes.
  ///   - depth: The number of levels below them at which changes are noticed.
  @usableFromInline
  mutating func mark(below roots: some Sequence<NodeNumber>, depth: UInt8 = .max) {
    var waiting: [NodeNumber] = []
    for root in roots { mark(root, depth, &waiting) }
    // First in, first out: of equal roots, each node is reached first on its shortest path.
    var place = 0
    while place < waiting.count {
      let number = waiting[place]
      place += 1
      let below = self.depth(below: number)
      var next = nodes[Int(number)].firstOut
      while next != Self.none {
        putFirst(next)
        mark(edges[Int(next)].target, below, &waiting)
        next = edges[Int(next)].nextOut
      }
    }
  }

  private mutating func mark(_ number: NodeNumber, _ depth: UInt8, _ waiting: inout [NodeNumber]) {
    let index = Int(number)
    if nodes[index].mark == marking, nodes[index].depth >= depth { return }
    if depth == 0 { return }
    if nodes[index].mark != marking { markedCount += 1 }
    nodes[index].mark = marking
    nodes[index].depth = depth
    waiting.append(number)
  }

  /// Marks anew the nodes below those that are watched now.
  mutating func remark(below watched: some Sequence<NodeNumber>) {
    beginMarking()
    mark(below: watched)
  }
}

// MARK: - Numbers of walks

/// Resets the traces of old walks before their numbers recur.
extension Graph {
  private mutating func beginWalk() {
    if walk == .max { wipe(\.seen) }
    walk = walk == .max ? 1 : walk + 1
  }

  mutating func beginPassage() {
    if passage == .max { wipe(\.passed) }
    passage = passage == .max ? 1 : passage + 1
  }

  private mutating func beginMarking() {
    if marking == .max { wipe(\.mark) }
    marking = marking == .max ? 1 : marking + 1
    markedCount = 0
  }

  private mutating func wipe(_ trace: WritableKeyPath<Node, UInt32>) {
    for index in nodes.indices { nodes[index][keyPath: trace] = 0 }
  }
}
