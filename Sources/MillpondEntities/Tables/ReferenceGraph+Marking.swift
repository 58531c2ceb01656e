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
