import MillpondCore

/// The walk up from changed nodes to those that are observed or listed.
extension ReferenceGraph {
  /// The nodes that notice the changes of a commit.
  struct Noticing {
    /// The watched nodes that are among the changed ones, or refer to them.
    var watched: [NodeNumber] = []

    /// The nodes of listed tables that refer to changed nodes within the depth of their table, but
    /// are not changed themselves; and the number of references in between.
    var listed: [(number: NodeNumber, distance: Int)] = []
  }

  /// Returns the nodes that notice the changes of a commit.
  ///
  /// It goes up level by level, so each node is found at its smallest distance, and only through
  /// marked nodes, which may have a watched or listed node above them.
  ///
  /// - Parameters:
  ///   - changed: The changed nodes.
  ///   - depths: The number of levels of references at which a list of each table notices changes;
  ///     zero for a table that is not listed.
  ///   - limit: The number of levels to go up.
  /// - Complexity: O(*n*) in the marked nodes above the changed ones, and the references between
  ///   them.
  mutating func noticing(
    _ changed: [NodeNumber], _ depths: [Int], limit: Int = .max
  ) -> Noticing {
    beginWalk()
    let isListed = depths.contains { $0 > 0 }
    var (found, reached, distance) = (Noticing(), [NodeNumber](), 0)
    for root in changed { _ = reach(root, &reached) }
    var (place, levelEnd) = (0, reached.count)
    while place < reached.count {
      if place == levelEnd { (distance, levelEnd) = (distance + 1, reached.count) }
      let number = reached[place]
      let index = Int(number)
      if nodes[index].isWatched { found.watched.append(number) }
      if isListed, distance > 0, nodes[index].isStored,
        depths[Int(nodes[index].table)] >= distance
      {
        found.listed.append((number, distance))
      }
      var next = distance < limit ? nodes[index].firstIn : Self.none
      while next != Self.none {
        let edge = edges[Int(next)]
        steps += 1
        next = reach(edge.source, &reached) ? edge.nextIn : Self.none
      }
      place += 1
    }
    return found
  }

  /// Adds a node to the walk if it is marked; if it is not, no later edge of its list is.
  private mutating func reach(_ number: NodeNumber, _ reached: inout [NodeNumber]) -> Bool {
    guard isMarked(number) else { return false }
    if nodes[Int(number)].seen != walk {
      nodes[Int(number)].seen = walk
      reached.append(number)
    }
    return true
  }
}
