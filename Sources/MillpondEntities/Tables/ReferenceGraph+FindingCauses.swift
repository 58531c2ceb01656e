import MillpondCore

/// The walks that find the changes on which observed nodes depend, in steps between which the lock
/// may be free.
///
/// The thread that commits has the turn meanwhile, and marks wait, so edges and their order stay as
/// they are.
extension ReferenceGraph {
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
