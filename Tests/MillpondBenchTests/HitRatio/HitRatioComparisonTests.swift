import Testing

@testable import MillpondBench

@Suite struct HitRatioComparisonTests {
  private let percents = [1.0, 10, 50]
  private let trace = Trace.random(seed: 1, length: 3_000, keys: 300)

  @Test func `without sizes there is a cell for each capacity, with the optimum`() {
    let cells = HitRatioComparison(trace.unsized).cells(at: percents)

    #expect(cells.map(\.kind) == [.count, .count, .count])
    #expect(cells.map(\.percent) == percents)
    #expect(cells.map(\.capacity) == [3, 30, 150])
    #expect(cells.allSatisfy { $0.greatestGain ?? -1 > 0 })
  }

  @Test func `with sizes there are cells by bytes too, without an optimum`() {
    let cells = HitRatioComparison(trace).cells(at: percents)

    let (byCount, bySize) = (cells.prefix(3), cells.dropFirst(3))
    #expect(byCount.allSatisfy { $0.kind == .count && $0.optimum != nil })
    #expect(bySize.map(\.kind) == [.bytes, .bytes, .bytes, .bytesHit, .bytesHit, .bytesHit])
    #expect(bySize.allSatisfy { $0.optimum == nil && $0.isPossible })
    #expect(bySize.map(\.capacity)[5] == Limit.bytes(50, of: trace).capacity)
  }

  @Test func `only what has no sizes and a capacity that isn't tiny counts`() {
    #expect(
      HitRatioComparison(trace.unsized).cells(at: percents).map(\.isCounted) == [
        false, false, true,
      ])
    #expect(!HitRatioComparison(trace).cells(at: percents).contains { $0.isCounted })
  }

  @Test func `the ratios are those of the three caches`() throws {
    let trace = Trace(name: "a", keys: [1, 2, 3, 1, 2, 3, 1, 2, 3, 3], sizes: nil)

    let cell = try #require(HitRatioComparison(trace).cells(at: [67]).first)
    #expect(cell.capacity == 2)
    #expect(cell.leastRecentlyUsed == 10)
    #expect(cell.optimum == 50)
    #expect(cell.trace == "a")
  }
}
