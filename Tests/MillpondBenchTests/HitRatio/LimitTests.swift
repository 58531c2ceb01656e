import Testing

@testable import MillpondBench

@Suite struct LimitTests {
  private let trace = Trace(
    name: "", keys: Array(0..<200), sizes: Array(repeating: 1_000, count: 200))

  @Test func `a share of the footprint is rounded, and one at least`() {
    #expect(Limit.count(25, of: trace) == .count(50))
    #expect(Limit.count(0.8, of: trace) == .count(2))
    #expect(Limit.count(0.1, of: trace) == .count(1))
  }

  @Test func `a share of the bytes is one of all different values`() {
    #expect(Limit.bytes(0.1, of: trace) == .bytes(200))
  }
}
