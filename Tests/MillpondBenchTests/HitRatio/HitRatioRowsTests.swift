import MillpondCore
import Testing

@testable import MillpondBench

@Suite struct HitRatioRowsTests {
  private let trace = Trace.random(seed: 1, length: 3_000, keys: 300)

  @Test(
    arguments: 0..<10 as Range<UInt64>,
    [Limit.count(1), .count(5), .bytes(1), .bytes(10), .bytes(40)])
  func `a memory cache hits where the least recently used one does`(seed: UInt64, limit: Limit) {
    let trace = Trace.random(seed: seed, length: 400, keys: 15)
    var reference = LeastRecentlyUsed(limit, keyCount: trace.keyCount)

    #expect(
      trace.hits(limit, policy: .leastRecentlyUsed) == trace.hitCounts { reference.isHit($0) })
  }

  @Test func `the ratios are those of the three caches`() {
    let trace = Trace(name: "a", keys: [1, 2, 3, 1, 2, 3, 1, 2, 3, 3], sizes: nil)

    let (sample, gain) = trace.sample(at: 67, beside: Optimum(of: trace))

    #expect(sample.name == "hit-ratio-a-67%" && sample.isSumRight)
    #expect(sample.floor("LRU") == 10 && sample.floor("optimum") == 50)
    #expect(gain == nil)
  }

  @Test(arguments: [(1.0, false), (10, false), (50, true)])
  func `only what has no sizes and a capacity that isn't tiny counts`(
    percent: Double, isCounted: Bool
  ) {
    let unsized = trace.unsized

    let gain = unsized.sample(at: percent, beside: Optimum(of: unsized)).1

    #expect((gain != nil) == isCounted)
    #expect(trace.sample(at: percent, beside: Optimum(of: trace)).1 == nil)
  }

  @Test func `with sizes there are hits at a share of the bytes, without an optimum`() {
    let samples = trace.samplesBySize(at: 50)

    #expect(
      samples.map(\.name) == ["hit-ratio-random-bytes-50%", "hit-ratio-random-bytes-hit-50%"])
    #expect(samples.allSatisfy { $0.floors.map(\.name) == ["LRU"] })
  }

  @Test func `a trace with many cells weighs no more than one with few`() {
    let summary = summary([[(1, 10), (2, 20), (3, 30)], [(12, 40)]])

    #expect(summary.map(\.value) == [7, 1])
    #expect(summary.first?.floor("optimum") == 30)
  }

  @Test(arguments: [(5.5, "met"), (5.4, "missed")])
  func `a mean gain is met by what reaches its target`(gain: Double, verdict: String) {
    #expect(summary([[(gain, 50)]]).first?.verdict.rawValue == verdict)
  }

  @Test(arguments: [(-6.0, "met"), (-6.5, "missed")])
  func `one cell is enough to lose more than was promised`(gain: Double, verdict: String) {
    #expect(summary([[(40, 50)], [(gain, 50)]]).last?.verdict.rawValue == verdict)
  }

  @Test func `without cells that count there is no verdict`() {
    #expect(HitRatioSummary().samples.isEmpty)
  }

  private func summary(_ gains: [[(Double, Double)]]) -> [Sample] {
    HitRatioSummary(
      traces: gains.map { $0.map { HitRatioGain(place: "", ours: $0, optimum: $1) } }
    ).samples
  }
}
