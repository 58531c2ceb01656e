import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct CacheMonitorPrometheusTests {
  @Test func `each get is in one outcome of its layer`() {
    var statistics = CacheStatistics()
    (statistics.hits, statistics.misses) = (170, 20)
    (statistics.tooOld, statistics.undecodable, statistics.revalidations) = (2, 1, 6)
    (statistics.failures, statistics.refusals) = (5, 4)

    let text = CacheMonitor.prometheusText(of: ["disk": statistics])

    let outcomes = [
      "hit": 170, "miss": 17, "too_old": 2, "undecodable": 1, "revalidated": 6, "failed": 5,
      "refused": 4,
    ]
    for (outcome, count) in outcomes {
      #expect(
        text.contains("millpond_gets_total{layer=\"disk\",outcome=\"\(outcome)\"} \(count)\n"))
    }
  }

  @Test func `times are in every bucket that they are no longer than, and in the sum`() {
    var statistics = CacheStatistics()
    for time in [Duration.microseconds(62), .milliseconds(3), .seconds(90)] {
      statistics.times.add(time)
    }

    let text = CacheMonitor.prometheusText(of: ["a": statistics])

    for (bound, count) in [("0.00001", 0), ("0.0001", 1), ("0.005", 2), ("60", 2), ("+Inf", 3)] {
      #expect(
        text.contains("millpond_layer_seconds_bucket{layer=\"a\",le=\"\(bound)\"} \(count)\n"))
    }
    #expect(text.contains("millpond_layer_seconds_sum{layer=\"a\"} 90.003062\n"))
    #expect(text.contains("millpond_layer_seconds_count{layer=\"a\"} 3\n"))
  }

  @Test(arguments: ["a\"b", "back\\slash", "two\nlines", "", "\r\n", "e\u{301}\u{202E}"])
  func `whatever the name of a layer is, each line is one sample`(name: String) throws {
    let monitor = CacheMonitor()
    let cache = TestCache<String, Int>().named(name).monitored(by: monitor)
    cache.get("k").subscribe()

    for line in monitor.prometheusText.split(separator: "\n", omittingEmptySubsequences: false) {
      #expect(
        line.isEmpty || line.hasPrefix("# HELP ") || line.hasPrefix("# TYPE ")
          || line.wholeMatch(of: /[a-z_]+\{layer="(\\.|[^"\\])*"(,[a-z]+="[^"]+")?\} [0-9.e+-]+/)
            != nil
      )
    }
    #expect(monitor.prometheusText.contains("outcome=\"miss\"} 1\n"))
  }

  @Test func `the counts of two monitors are added`() {
    var (one, other) = (CacheStatistics(), CacheStatistics())
    (one.hits, other.hits, other.failedWrites) = (1, 2, 3)
    one.times.add(.seconds(1))
    other.times.add(.seconds(3))

    let sum = one + other

    #expect(sum.hits == 3 && sum.failedWrites == 3)
    #expect(
      sum.times.count == 2 && sum.times.longest == .seconds(3) && sum.times.sum == .seconds(4))
  }

  @Test func `a sum of times that is too large is the greatest`() {
    var times = Histogram()
    for _ in 0..<3 { times.add(.seconds(Int64.max)) }

    #expect(times.sum == .nanoseconds(Int64.max))
  }
}
