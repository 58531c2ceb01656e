import MillpondCore

/// Marks, which cover each watched or listed node and every node below it.
///
/// Stale marks may remain. They cost time and nothing else, so they need not be removed at once.
extension ReferenceGraph {
  /// Returns whether changes of the node may be noticed.
  @usableFromInline
  func isMarked(_ number: NodeNumber) -> Bool {
    nodes[Int(number)].mark == marking
  }

  /// Marks nodes and those below them.
  @usableFromInline
  mutating func mark(below roots: some Sequence<NodeNumber>) {
    var waiting: [NodeNumber] = []
    for root in roots { mark(root, &waiting) }
    while let number = waiting.popLast() {
      var next = nodes[Int(number)].firstOut
      while next != Self.none {
        putFirst(next)
        mark(edges[Int(next)].target, &waiting)
        next = edges[Int(next)].nextOut
      }
    }
  }

  private mutating func mark(_ number: NodeNumber, _ waiting: inout [NodeNumber]) {
    if isMarked(number) { return }
    nodes[Int(number)].mark = marking
    markedCount += 1
    waiting.append(number)
  }
}
