import MillpondTesting
import Testing

@testable import MillpondEntities

@Suite struct GraphTests {
  /// A graph without edges.
  private func graph(_ count: Int) -> Graph {
    var graph = Graph()
    for row in 0..<count { _ = graph.addNode(table: 0, row: Int32(row)) }
    return graph
  }

  private func watch(_ node: NodeNumber, in graph: inout Graph) {
    graph.nodes[Int(node)].isWatched = true
    graph.mark(below: [node])
  }

  @Test(arguments: [1_000, 100_000])
  func `F14 a walk comes by what lies between a change and its observers, and by nothing else`(
    count: Int
  ) {
    var graph = graph(count)
    for node in 0..<NodeNumber(count - 1) { _ = graph.connect(node, to: [node + 1]) }
    watch(NodeNumber(count - 10), in: &graph)

    let found = graph.watched(above: [NodeNumber(count - 4)])

    #expect(found == [NodeNumber(count - 10)])
    #expect(graph.nodes.count { $0.seen == graph.walk } == 7)
  }

  @Test func `a change that nobody can see is not walked from`() {
    var graph = graph(10)
    for node in NodeNumber(0)..<9 { _ = graph.connect(node, to: [node + 1]) }
    watch(5, in: &graph)

    #expect(graph.watched(above: [4]).isEmpty)
    #expect(graph.nodes.allSatisfy { $0.seen != graph.walk })
  }

  @Test func `marks that are stale cost no notice, and go when all is marked anew`() {
    var graph = graph(3)
    _ = graph.connect(0, to: [1])
    watch(0, in: &graph)
    _ = graph.connect(0, to: [2])

    #expect(graph.isMarked(1))
    #expect(graph.watched(above: [1]).isEmpty)
    graph.remark(below: [0])
    #expect(!graph.isMarked(1))
    #expect(graph.isMarked(2))
    #expect(graph.markedCount == 2)
  }

  @Test(arguments: 0..<20)
  func `whatever is connected, who is found is who can be reached`(seed: Int) {
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
      _ = graph.connect(NodeNumber(source), to: targets[source])
      let changed = NodeNumber.random(in: 0..<NodeNumber(count), using: &random)

      let found = graph.watched(above: [changed])

      let expected = watched.filter { reachable(from: $0, targets).contains(changed) }
      #expect(found.sorted() == expected)
    }
    #expect(graph.edges.count < 100)
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
