import Testing

@testable import MillpondBench

@Suite struct WorkloadTests {
  private let workloads = Workload.all(length: 20_000)

  @Test func `a workload is the same every time`() {
    for (one, other) in zip(workloads, Workload.all(length: 20_000)) {
      #expect(one.trace().keys == other.trace().keys)
    }
  }

  @Test func `workloads differ in name and in what is asked`() {
    #expect(Set(workloads.map(\.name)).count == workloads.count)
    #expect(Set(workloads.map { $0.trace().keys }).count == workloads.count)
  }

  @Test func `a workload is about as long as was asked for`() {
    for workload in workloads {
      #expect((19_900...20_000).contains(workload.trace().keys.count))
    }
  }

  @Test(arguments: ["loop", "phases"])
  func `a loop is a bit too long for a tenth of the footprint, not for a quarter`(
    name: String
  ) throws {
    let trace = try #require(workloads.first { $0.name == name }).trace()
    let (tenth, quarter) = (hits(trace, percent: 10), hits(trace, percent: 25))
    let optimum = Optimum(of: trace).hits(capacity: Limit.count(10, of: trace).capacity)

    #expect(quarter - tenth > trace.keys.count / 5)
    #expect(optimum - tenth > trace.keys.count / 5)
  }

  @Test func `the more uneven the demand, the more hits`() {
    let hits = ["uniform", "zipf-0.8", "zipf-0.99"].map { name in
      workloads.filter { $0.name == name }.map { self.hits($0.trace(), percent: 10) }
    }

    #expect(hits.allSatisfy { $0.count == 1 })
    #expect(zip(hits, hits.dropFirst()).allSatisfy { 1.2 * Double($0[0]) < Double($1[0]) })
  }

  private func hits(_ trace: Trace, percent: Double) -> Int {
    var cache = LeastRecentlyUsed(.count(percent, of: trace), keyCount: trace.keyCount)
    return trace.hitCounts { cache.isHit($0) }.hits
  }
}
