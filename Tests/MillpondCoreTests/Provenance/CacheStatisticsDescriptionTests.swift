import MillpondSignals
import Testing

@testable import MillpondCore

@Suite struct CacheStatisticsDescriptionTests {
  @Test func `hits and misses are named in any case, and nothing else that did not happen`() {
    #expect("\(CacheStatistics())" == "0 hits, 0 misses")
  }

  @Test func `all counts have a name, and the times their units`() {
    var statistics = CacheStatistics()
    statistics.hits = 170
    (statistics.misses, statistics.tooOld, statistics.undecodable) = (20, 2, 1)
    (statistics.failures, statistics.refusals) = (5, 4)
    (statistics.revalidations, statistics.flights, statistics.joins) = (6, 20, 3)
    (statistics.failedFills, statistics.failedWrites) = (7, 8)
    statistics.times.add(.milliseconds(3))

    #expect(
      "\(statistics)"
        == "170 hits, 20 misses (2 too old, 1 undecodable), 5 failures, 4 refused, "
        + "6 revalidations, 20 flights, 3 joins, 7 failed fills, 8 failed writes; "
        + "median 3.0 ms, longest 3.0 ms")
  }

  @Test func `a histogram without durations has none`() {
    #expect("\(Histogram())" == "none")
  }
}
