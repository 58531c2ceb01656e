import MillpondCore
import MillpondTesting
import Testing

@testable import MillpondEntities

@Suite struct ReferenceGraphTests {
  /// Returns a graph without edges.
  private func graph(_ count: Int) -> ReferenceGraph {
    var graph = ReferenceGraph()
    for row in 0..<count { _ = graph.addNode(table: 0, row: Int32(row)) }
    return graph
  }

  private func watch(_ node: NodeNumber, in graph: inout ReferenceGraph) {
    graph.nodes[Int(node)].isWatched = true
    graph.mark(below: [node])
  }

  @Test(arguments: [1_000, 100_000])
  func `a walk visits only the nodes between a change and its observers`(
    count: Int
  ) {
    var graph = graph(count)
    for node in 0..<NodeNumber(count - 1) { graph.connect(node, to: [node + 1]) }
    watch(NodeNumber(count - 10), in: &graph)

    let found = graph.noticing([NodeNumber(count - 4)], [0]).watched

    #expect(found == [NodeNumber(count - 10)])
    #expect(graph.nodes.count { $0.seen == graph.walk } == 7)
  }

  @Test func `a change that no observer can see is not followed`() {
    var graph = graph(10)
    for node in NodeNumber(0)..<9 { graph.connect(node, to: [node + 1]) }
    watch(5, in: &graph)

    #expect(graph.noticing([4], [0]).watched.isEmpty)
    #expect(graph.nodes.allSatisfy { $0.seen != graph.walk })
  }

  @Test func `unobserved entities are not visited, however many refer to the changed one`() {
    let count = 10_000
    var graph = graph(count)
    for node in 1..<NodeNumber(count) { graph.connect(node, to: [0]) }
    watch(0, in: &graph)
    watch(NodeNumber(count / 2), in: &graph)
    graph.steps = 0

    let found = graph.noticing([0], [0]).watched

    #expect(Set(found) == [0, NodeNumber(count / 2)])
    #expect(graph.steps < 4)
  }

  @Test func `changes are carried up a chain, and not searched for by each observer`() {
    let count: NodeNumber = 10_000
    var graph = graph(Int(count))
    for node in 0..<count - 1 { graph.connect(node, to: [node + 1]) }
    for node in 0..<count { watch(node, in: &graph) }
    _ = graph.noticing([count - 2, count - 1], [0]).watched
    graph.steps = 0

    let origins = graph.origins(of: [count - 2, count - 1])

    #expect(origins[count - 1] == 0b10)
    #expect((0..<count - 1).allSatisfy { origins[$0] == 0b11 })
    #expect(graph.steps < 4 * count)
  }

  @Test func `a walk finds the same when the numbers of walks begin again`() {
    var graph = graph(3)
    for node in NodeNumber(0)..<2 { graph.connect(node, to: [node + 1]) }
    watch(0, in: &graph)
    let former = graph.noticing([2], [0]).watched
    graph.walk = .max

    let found = graph.noticing([2], [0]).watched

    #expect(former == [0])
    #expect(found == [0])
    #expect(graph.walk == 1)
  }

  @Test func `marks that are stale cost no notice, and go when all is marked anew`() {
    var graph = graph(3)
    graph.connect(0, to: [1])
    watch(0, in: &graph)
    graph.connect(0, to: [2])

    #expect(graph.isMarked(1))
    #expect(graph.noticing([1], [0]).watched.isEmpty)
    graph.beginMarking()
    graph.mark(below: [0])
    #expect(!graph.isMarked(1))
    #expect(graph.isMarked(2))
    #expect(graph.markedCount == 2)
  }

  @Test(arguments: 0..<20)
  func `in every graph the entities that are found are those that can be reached`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = 20
    var graph = graph(count)
    var targets = Array(repeating: [NodeNumber](), count: count)
    let watched = (0..<NodeNumber(count)).filter { _ in Bool.random(using: &random) }
    for node in watched { watch(node, in: &graph) }
    for _ in 0..<200 {
      let source = Int.random(in: 0..<count, using: &random)
      targets[source] = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        NodeNumber.random(in: 0..<NodeNumber(count), using: &random)
      }
      graph.connect(NodeNumber(source), to: targets[source])
      let changed = NodeNumber.random(in: 0..<NodeNumber(count), using: &random)

      let found = graph.noticing([changed], [0]).watched

      let expected = watched.filter { reachable(from: $0, targets).contains(changed) }
      #expect(found.sorted() == expected)
      if Int.random(in: 0..<20, using: &random) == 0 {
        graph.beginMarking()
        graph.mark(below: watched)
      }
      #expect(graph.putsMarkedFirst)
    }
    #expect(graph.edges.count < 100)
  }

  @Test(arguments: 0..<20)
  func `in every graph each observer receives the changes below it`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = 40
    var graph = graph(count)
    let targets = (0..<count).map { _ in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in
        NodeNumber.random(in: 0..<NodeNumber(count), using: &random)
      }
    }
    for (node, targets) in targets.enumerated() {
      graph.connect(NodeNumber(node), to: targets)
    }
    for node in 0..<NodeNumber(count) where node % 3 == 0 { watch(node, in: &graph) }
    let changed = (0..<NodeNumber(count)).shuffled(using: &random).prefix(15)
    let found = graph.noticing(Array(changed), [0]).watched

    let origins = graph.origins(of: Array(changed))

    for node in found {
      let below = reachable(from: node, targets)
      let expected = changed.indices.filter { below.contains(changed[$0]) }
      #expect(changed.indices.filter { origins[node] >> UInt64($0) & 1 == 1 } == expected)
    }
  }

  @Test(arguments: 0..<20)
  func `few observers and many find the same causes`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = 200
    var graph = graph(count)
    let targets = (0..<count).map { _ in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in
        NodeNumber.random(in: 0..<NodeNumber(count), using: &random)
      }
    }
    for (node, targets) in targets.enumerated() {
      graph.connect(NodeNumber(node), to: targets)
    }
    for node in 0..<NodeNumber(count) where node % 3 == 0 { watch(node, in: &graph) }
    let changed = Array((0..<NodeNumber(count)).shuffled(using: &random).prefix(100))
    let found = graph.noticing(changed, [0]).watched

    let all = graph.causes(of: found, among: changed, changed)
    let single = found.map { graph.causes(of: [$0], among: changed, changed)[0] }

    #expect(found.count > 16)
    #expect(all == single)
    for (node, causes) in zip(found, all) {
      let below = reachable(from: node, targets)
      #expect(causes == changed.filter { below.contains($0) })
    }
  }

  private func reachable(from node: NodeNumber, _ targets: [[NodeNumber]]) -> Set<NodeNumber> {
    var (found, waiting): (Set, _) = ([node], [node])
    while let node = waiting.popLast() {
      for target in targets[Int(node)] where found.insert(target).inserted {
        waiting.append(target)
      }
    }
    return found
  }
}

extension ReferenceGraph {
  /// Replaces the references of a node.
  fileprivate mutating func connect(_ source: NodeNumber, to targets: [NodeNumber]) {
    var former: [NodeNumber] = []
    connect(source, to: targets[...], former: &former)
  }

  /// Whether the edges of each target are linked both ways, those of marked sources first.
  fileprivate var putsMarkedFirst: Bool {
    nodes.allSatisfy { node in
      var (places, next): ([Int32], _) = ([], node.firstIn)
      while next != Self.none {
        places.append(next)
        next = edges[Int(next)].nextIn
      }
      let isLinked = places.indices.allSatisfy { index in
        edges[Int(places[index])].previousIn == places[index == 0 ? places.count - 1 : index - 1]
      }
      let marks = places.map { isMarked(edges[Int($0)].source) }
      return isLinked && marks == marks.sorted { $0 && !$1 }
    }
  }
}
