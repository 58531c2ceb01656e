import MillpondCore

/// The walks up from changed nodes to those that are observed or listed, in steps between which the
/// lock may be free.
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
