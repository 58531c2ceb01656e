import MillpondCore

/// Walks in steps, between which the lock may be free.
///
/// The thread that commits has the turn meanwhile, and marks wait, so edges and their order stay as
/// they are.
extension ReferenceGraph {
  /// A walk up to the watched nodes that are among the changed ones, or refer to them directly or
  /// indirectly.
  ///
  /// It goes up only through marked nodes, which may have a watched node above them.
  ///
  /// - Complexity: O(*n*) in the marked nodes above the changed ones, and the references between
  ///   them.
  struct Climb: Sendable {
    /// The changed nodes that have not been visited.
    fileprivate var roots: ArraySlice<NodeNumber>
    fileprivate var waiting: [NodeNumber] = []

    /// The next edge to the node that was visited last.
    fileprivate var next = ReferenceGraph.none

    var found: [NodeNumber] = []
  }

  mutating func beginClimb(from changed: [NodeNumber]) -> Climb {
    beginWalk()
    return Climb(roots: changed[...])
  }

  /// Continues a walk for `left` steps; returns whether there is more.
  mutating func climb(_ walk: inout Climb, _ left: inout Int) -> Bool {
    while left > 0 {
      left -= 1
      if walk.next != Self.none {
        let edge = edges[Int(walk.next)]
        steps += 1
        walk.next = reach(edge.source, &walk.waiting) ? edge.nextIn : Self.none
      } else if let number = walk.waiting.popLast() {
        if nodes[Int(number)].isWatched { walk.found.append(number) }
        walk.next = nodes[Int(number)].firstIn
      } else if let root = walk.roots.popFirst() {
        _ = reach(root, &walk.waiting)
      } else {
        return false
      }
    }
    return true
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

  /// A second walk up, which brings changes to the nodes of the first: up to 64 changes at a time,
  /// a bit for each.
  ///
  /// A node is visited again only when it gets more bits, so thousands of observers do not each
  /// search for the same change.
  ///
  /// - Complexity: O(*n*) in the nodes above the changes, and at most 64 times that.
  struct Origins: Sendable {
    /// The bits of each node: the changes that are below it or the node itself.
    private(set) var bits = SparseArray(common: UInt64(0))
    fileprivate var waiting: [NodeNumber] = []

    /// The next edge to the node that was visited last, and that node's bits.
    fileprivate var next = ReferenceGraph.none
    fileprivate var current: UInt64 = 0

    fileprivate mutating func add(_ more: UInt64, to node: NodeNumber) {
      let known = bits[node]
      if known | more == known { return }
      bits[node] = known | more
      waiting.append(node)
    }
  }

  func beginOrigins(of changes: some Collection<NodeNumber>) -> Origins {
    var origins = Origins()
    for (bit, node) in changes.enumerated() where nodes[Int(node)].seen == walk {
      origins.add(1 << UInt64(bit), to: node)
    }
    return origins
  }

  /// Continues a walk for `left` steps; returns whether there is more.
  mutating func trace(_ origins: inout Origins, _ left: inout Int) -> Bool {
    while left > 0 {
      left -= 1
      if origins.next != Self.none {
        let edge = edges[Int(origins.next)]
        steps += 1
        // The edges of marked sources come first.
        origins.next = isMarked(edge.source) ? edge.nextIn : Self.none
        if nodes[Int(edge.source)].seen == walk { origins.add(origins.current, to: edge.source) }
      } else if let number = origins.waiting.popLast() {
        origins.current = origins.bits[number]
        origins.next = nodes[Int(number)].firstIn
      } else {
        return false
      }
    }
    return true
  }

  /// A walk down from a node, through the nodes of the last walk up.
  struct Descent: Sendable {
    fileprivate var waiting: [NodeNumber]

    /// The next edge from the node that was visited last.
    fileprivate var next = ReferenceGraph.none

    /// The visited nodes, the first one included.
    var reached: [NodeNumber] = []
  }

  mutating func beginDescent(from top: NodeNumber) -> Descent {
    beginPassage()
    nodes[Int(top)].passed = passage
    return Descent(waiting: [top])
  }

  /// Continues a walk for `left` steps; returns whether there is more.
  mutating func descend(_ walk: inout Descent, _ left: inout Int) -> Bool {
    while left > 0 {
      left -= 1
      if walk.next != Self.none {
        let edge = edges[Int(walk.next)]
        steps += 1
        if nodes[Int(edge.target)].seen == self.walk { pass(edge.target, &walk.waiting) }
        walk.next = edge.nextOut
      } else if let number = walk.waiting.popLast() {
        walk.reached.append(number)
        walk.next = nodes[Int(number)].firstOut
      } else {
        return false
      }
    }
    return true
  }
}

extension ReferenceGraph {
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
    of number: NodeNumber, _ body: (inout ReferenceGraph, NodeNumber) -> Void
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

extension ReferenceGraph {
  /// A walk up to the nodes of listed tables that refer to changed nodes within the depth of their
  /// table; not to those that are changed themselves.
  ///
  /// It goes up level by level, so each node is found at its smallest distance.
  ///
  /// - Complexity: O(*n*) in the marked nodes above the changed ones, up to the greatest depth, and
  ///   the references between them.
  struct Listing: Sendable {
    /// The depth of each table; zero for one that is not listed.
    fileprivate let depths: [UInt8]

    /// The changed nodes that have not been visited.
    fileprivate var roots: ArraySlice<NodeNumber>
    fileprivate var level: [NodeNumber]
    fileprivate var place = 0
    fileprivate var above: [NodeNumber] = []

    /// The next edge to the node that was visited last, and the distance of its source.
    fileprivate var next = ReferenceGraph.none
    fileprivate var distance = 1

    /// The nodes that were found since they were last taken, and the number of references in
    /// between.
    var found: [(number: NodeNumber, distance: Int)] = []
  }

  mutating func beginListing(from changed: [NodeNumber], _ depths: [UInt8]) -> Listing {
    beginWalk()
    return Listing(depths: depths, roots: changed[...], level: changed)
  }

  /// Continues a walk for `left` steps; returns whether there is more.
  mutating func list(_ walk: inout Listing, _ left: inout Int) -> Bool {
    while left > 0 {
      left -= 1
      if let root = walk.roots.popFirst() {
        nodes[Int(root)].seen = self.walk
      } else if walk.next != Self.none {
        let edge = edges[Int(walk.next)]
        steps += 1
        walk.next = isMarked(edge.source) ? edge.nextIn : Self.none
        climb(to: edge.source, &walk)
      } else if walk.place < walk.level.count {
        walk.next = nodes[Int(walk.level[walk.place])].firstIn
        walk.place += 1
      } else if !walk.above.isEmpty {
        walk.level = exchange(&walk.above, with: [])
        walk.place = 0
        walk.distance += 1
      } else {
        return false
      }
    }
    return true
  }

  /// Adds a node to the next level if it is marked, and close enough to a root.
  private mutating func climb(to number: NodeNumber, _ walk: inout Listing) {
    let node = nodes[Int(number)]
    guard isMarked(number), node.seen != self.walk, Self.reaches(node.depth, walk.distance) else {
      return
    }
    nodes[Int(number)].seen = self.walk
    walk.above.append(number)
    if node.isStored, Self.reaches(walk.depths[Int(node.table)], walk.distance) {
      walk.found.append((number, walk.distance))
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
extension ReferenceGraph {
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
  /// - Returns: The number of nodes and references that were visited.
  @discardableResult
  @usableFromInline
  mutating func mark(below roots: some Sequence<NodeNumber>, depth: UInt8 = .max) -> Int {
    var marking = Marking()
    for root in roots { mark(root, depth, &marking.waiting) }
    var left = Int.max
    let former = left
    _ = mark(&marking, &left)
    return former - left
  }

  /// A walk down that sets marks, in steps.
  struct Marking: Sendable {
    /// The marked nodes, and the number of those whose references have been followed.
    fileprivate var waiting: [NodeNumber] = []
    fileprivate var place = 0
  }

  /// Adds a root to a walk.
  mutating func begin(_ marking: inout Marking, at root: NodeNumber, depth: UInt8) {
    mark(root, depth, &marking.waiting)
  }

  /// Continues a walk until about `left` marks are set; returns whether there is more.
  mutating func mark(_ marking: inout Marking, _ left: inout Int) -> Bool {
    // First in, first out: of equal roots, each node is reached first on its shortest path.
    while marking.place < marking.waiting.count {
      if left <= 0 { return true }
      let number = marking.waiting[marking.place]
      marking.place += 1
      left -= 1
      let below = self.depth(below: number)
      var next = nodes[Int(number)].firstOut
      while next != Self.none {
        putFirst(next)
        mark(edges[Int(next)].target, below, &marking.waiting)
        next = edges[Int(next)].nextOut
        left -= 1
      }
    }
    marking = Marking()
    return false
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

  /// Marks the nodes below an observed one, or records that it is to be done after a walk in steps.
  mutating func markWatched(_ root: NodeNumber) {
    if isWalked { unmarked.append(root) } else { mark(below: CollectionOfOne(root)) }
  }

  /// Marks anew the nodes below those that are watched now.
  mutating func remark(below watched: some Sequence<NodeNumber>) {
    beginMarking()
    mark(below: watched)
  }
}

// MARK: - Numbers of walks

/// Resets the traces of old walks before their numbers recur.
extension ReferenceGraph {
  private mutating func beginWalk() {
    if walk == .max { wipe(\.seen) }
    walk = walk == .max ? 1 : walk + 1
  }

  mutating func beginPassage() {
    if passage == .max { wipe(\.passed) }
    passage = passage == .max ? 1 : passage + 1
  }

  mutating func beginMarking() {
    if marking == .max { wipe(\.mark) }
    marking = marking == .max ? 1 : marking + 1
    markedCount = 0
  }

  private mutating func wipe(_ trace: WritableKeyPath<Node, UInt32>) {
    for index in nodes.indices { nodes[index][keyPath: trace] = 0 }
  }
}
