import MillpondCore

/// The walks up from changed nodes to those that are observed or listed.
extension ReferenceGraph {
  /// Returns the watched nodes that are among the changed ones, or refer to them directly or
  /// indirectly.
  ///
  /// It goes up only through marked nodes, which may have a watched node above them.
  ///
  /// - Complexity: O(*n*) in the marked nodes above the changed ones, and the references between
  ///   them.
  mutating func watched(above changed: [NodeNumber]) -> [NodeNumber] {
    beginWalk()
    var (found, waiting): ([NodeNumber], [NodeNumber]) = ([], [])
    for root in changed { _ = reach(root, &waiting) }
    while let number = waiting.popLast() {
      if nodes[Int(number)].isWatched { found.append(number) }
      var next = nodes[Int(number)].firstIn
      while next != Self.none {
        let edge = edges[Int(next)]
        steps += 1
        next = reach(edge.source, &waiting) ? edge.nextIn : Self.none
      }
    }
    return found
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

  /// Returns the nodes of listed tables that refer to changed nodes within the depth of their table,
  /// but are not changed themselves; and the number of references in between.
  ///
  /// It goes up level by level, so each node is found at its smallest distance.
  ///
  /// - Parameters:
  ///   - changed: The changed nodes.
  ///   - depths: The depth of each table; zero for one that is not listed.
  /// - Complexity: O(*n*) in the marked nodes above the changed ones, up to the greatest depth, and
  ///   the references between them.
  mutating func listed(
    above changed: [NodeNumber], _ depths: [UInt8]
  ) -> [(number: NodeNumber, distance: Int)] {
    beginWalk()
    for root in changed { nodes[Int(root)].seen = walk }
    var (level, distance) = (changed, 1)
    var found: [(number: NodeNumber, distance: Int)] = []
    while !level.isEmpty {
      var above: [NodeNumber] = []
      for number in level { climb(from: number, distance, &above) }
      for number in above where nodes[Int(number)].isStored {
        let depth = depths[Int(nodes[Int(number)].table)]
        if Self.reaches(depth, distance) { found.append((number, distance)) }
      }
      (level, distance) = (above, distance + 1)
    }
    return found
  }

  /// Adds the sources of a node to the next level if they are marked, and close enough to a root.
  private mutating func climb(
    from number: NodeNumber, _ distance: Int, _ above: inout [NodeNumber]
  ) {
    var next = nodes[Int(number)].firstIn
    while next != Self.none {
      let edge = edges[Int(next)]
      steps += 1
      // The edges of marked sources come first.
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
