import Testing

@testable import MillpondBench

@Suite struct PercentilesTests {
  @Test(arguments: [(0.0, 1.0), (0.01, 1), (0.5, 50), (0.501, 51), (0.99, 99), (1, 100)])
  func `so large a share is not larger`(share: Double, number: Double) {
    #expect(Percentiles(of: (1...100).map(Double.init).reversed()).at(share) == number)
  }

  @Test(arguments: [0, 0.5, 1])
  func `of one number, all are that one`(share: Double) {
    #expect(Percentiles(of: [7]).at(share) == 7)
  }

  @Test func `of none, all are zero`() {
    #expect(Percentiles(of: []).at(0.5) == 0)
  }
}
