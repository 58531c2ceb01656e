import MillpondCore

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
  @usableFromInline
  mutating func mark(below roots: some Sequence<NodeNumber>, depth: UInt8 = .max) {
    var (waiting, place): ([NodeNumber], Int) = ([], 0)
    for root in roots { mark(root, depth, &waiting) }
    // First in, first out: of equal roots, each node is reached first on its shortest path.
    while place < waiting.count {
      let below = self.depth(below: waiting[place])
      var next = nodes[Int(waiting[place])].firstOut
      while next != Self.none {
        putFirst(next)
        mark(edges[Int(next)].target, below, &waiting)
        next = edges[Int(next)].nextOut
      }
      place += 1
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
