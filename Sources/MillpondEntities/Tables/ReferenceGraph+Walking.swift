import MillpondCore

/// The walk down from entities in use, which finds those that are to be kept.
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

// MARK: - Numbers of walks

/// Resets the traces of old walks before their numbers recur.
extension ReferenceGraph {
  mutating func beginWalk() {
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
