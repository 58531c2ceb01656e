import Testing

@testable import MillpondBench

@Suite struct LeastRecentlyUsedTests {
  @Test(
    arguments: 0..<20 as Range<UInt64>,
    [Limit.count(1), .count(5), .bytes(1), .bytes(10), .bytes(40)])
  func `it hits where a list in the order of use does`(seed: UInt64, limit: Limit) {
    let trace = Trace.random(seed: seed, length: 400, keys: 15)
    var cache = LeastRecentlyUsed(limit, keyCount: trace.keyCount)
    var list = ListInOrderOfUse(limit: limit)

    _ = trace.hitCounts { access in
      let isHit = cache.isHit(access)
      #expect(isHit == list.isHit(access))
      return isHit
    }
  }

  @Test func `a loop that is longer by one than the cache never hits`() {
    let trace = Trace(name: "", keys: (0..<1_000).map { $0 % 10 })
    var (short, long) = (
      LeastRecentlyUsed(.count(9), keyCount: 10), LeastRecentlyUsed(.count(10), keyCount: 10)
    )

    #expect(trace.hitCounts { short.isHit($0) }.hits == 0)
    #expect(trace.hitCounts { long.isHit($0) }.hits == 990)
  }
}

/// The newest last.
private struct ListInOrderOfUse {
  let limit: Limit
  private var kept: [Trace.Access] = []

  init(limit: Limit) {
    self.limit = limit
  }

  mutating func isHit(_ access: Trace.Access) -> Bool {
    if let place = kept.firstIndex(where: { $0.key == access.key }) {
      kept.append(kept.remove(at: place))
      return true
    }
    guard limit.admits(count: 1, bytes: access.size) else { return false }
    kept.append(access)
    while !limit.admits(count: kept.count, bytes: kept.map(\.size).reduce(0, +)) {
      kept.removeFirst()
    }
    return false
  }
}
