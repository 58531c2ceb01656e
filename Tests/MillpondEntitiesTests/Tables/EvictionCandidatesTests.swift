import MillpondCore
import MillpondTesting
import Testing

@testable import MillpondEntities

@Suite struct EvictionCandidatesTests {
  private func candidate(_ node: Int, usedAt time: Int64) -> EvictionCandidate {
    EvictionCandidate(node: NodeNumber(node), use: EntityUse(touched: time, stored: .none))
  }

  @Test(arguments: [0, 1, 2, 7, 100, 150])
  func `of all that are offered, the least recently used are chosen, in order`(limit: Int) {
    var random = SeededGenerator(seed: UInt64(limit))
    let times = (0..<100).map { Int64($0 / 2) }.shuffled(using: &random)
    var choice = LeastRecentlyUsed(atMost: limit)

    for (node, time) in times.enumerated() { choice.offer(candidate(node, usedAt: time)) }
    while choice.sort(atMost: 3) {}

    #expect(choice.sorted.map(\.use.touched) == Array(times.sorted().prefix(limit)))
    #expect(choice.sorted.allSatisfy { times[Int($0.node)] == $0.use.touched })
  }

  @Test func `a sort goes on where it was`() {
    var choice = LeastRecentlyUsed(atMost: 10)
    for node in 0..<10 { choice.offer(candidate(node, usedAt: Int64(node))) }

    var goes = 0
    while choice.sort(atMost: 2) { goes += 1 }

    #expect(goes == 4)
  }

  @Test func `what is put back is kept apart`() {
    var queue = EvictionQueue((0..<4).map { candidate($0, usedAt: 0) })

    let first = (0..<2).compactMap { _ in queue.next() }
    queue.putBack(first)
    let rest = (0..<4).compactMap { _ in queue.next() }
    let wasEmpty = queue.isEmpty
    let used = (0..<4).compactMap { _ in queue.nextUsed() }

    #expect(first.map(\.node) == [0, 1] && rest.map(\.node) == [2, 3])
    #expect(!wasEmpty && used.map(\.node) == [0, 1])
    #expect(queue.isEmpty)
  }
}
