import MillpondCore

/// The numbers of walks, which reset the traces of old walks before they recur.
extension ReferenceGraph {
  mutating func beginWalk() {
    if walk == .max { wipe(\.seen) }
    walk = walk == .max ? 1 : walk + 1
  }

  mutating func beginPassage() {
    if passage == .max { wipe(\.passed) }
    passage = passage == .max ? 1 : passage + 1
  }

  mutating func pass(_ number: NodeNumber, _ waiting: inout [NodeNumber]) {
    guard nodes[Int(number)].passed != passage else { return }
    nodes[Int(number)].passed = passage
    waiting.append(number)
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
