import MillpondCore
import Testing

@testable import MillpondBench

@Suite struct ContenderTests {
  @Test(
    arguments: 0..<10 as Range<UInt64>,
    [Limit.count(1), .count(5), .bytes(1), .bytes(10), .bytes(40)])
  func `a memory cache hits where the least recently used one does`(seed: UInt64, limit: Limit) {
    let trace = Trace.random(seed: seed, length: 400, keys: 15)
    let contender = Contender(limit, policy: .leastRecentlyUsed)
    var reference = LeastRecentlyUsed(limit, keyCount: trace.keyCount)

    _ = trace.hitCounts { access in
      let isHit = contender.isHit(access)
      #expect(isHit == reference.isHit(access))
      return isHit
    }
  }
}
