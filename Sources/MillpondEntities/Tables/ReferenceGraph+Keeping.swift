import MillpondCore

/// The walk down from entities in use, which finds those that are to be kept.
///
/// Others may write between its steps. What comes into use meanwhile is kept as well: a node that
/// is observed or retained, and the new targets of a kept node. So once the references of all kept
/// nodes have been followed, every node in use is kept. Nodes that have gone out of use since stay
/// kept until the next walk.
extension ReferenceGraph {
  /// Begins a walk.
  ///
  /// - Parameter kept: Made before the lock is taken, with as many elements as there were nodes.
  mutating func beginKeeping(_ kept: ChunkedArray<Bool>) {
    (self.kept, unfollowed, isKeeping) = (kept, ChunkedArray(), true)
    while self.kept.count < nodes.count { self.kept.append(false) }
  }

  /// Ends the walk; returns memory to be released after the unlock.
  mutating func endKeeping() -> any Sendable {
    isKeeping = false
    return (exchange(&kept, with: ChunkedArray()), exchange(&unfollowed, with: ChunkedArray()))
  }

  /// Keeps a node, if there is a walk.
  @usableFromInline
  mutating func keep(_ number: NodeNumber) {
    guard isKeeping, !kept[Int(number)] else { return }
    kept[Int(number)] = true
    unfollowed.append(number)
  }

  /// Keeps the targets of kept nodes; returns whether there are more.
  ///
  /// - Parameter count: The greatest number of nodes whose references are followed.
  mutating func follow(atMost count: Int) -> Bool {
    var left = count
    while left > 0, let number = unfollowed.last {
      unfollowed.removeLast()
      left -= 1
      var next = nodes[Int(number)].firstOut
      while next != Self.none {
        let edge = edges[Int(next)]
        steps += 1
        keep(edge.target)
        next = edge.nextOut
      }
    }
    return !unfollowed.isEmpty
  }
}
