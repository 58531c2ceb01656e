import Testing

@testable import MillpondBench

@Suite struct ZipfTests {
  @Test(arguments: [0.8, 0.99])
  func `a rank comes up as much less often as it is greater`(exponent: Double) {
    let counts = draw(100_000, Zipf(exponent: exponent, count: 1_000))

    let ratio = Double(counts[0]) / Double(counts[9])
    let expected = exponent == 0.8 ? 6.31 : 9.77
    #expect(abs(ratio - expected) < expected / 10)
  }

  @Test func `every rank comes up, and no other`() {
    #expect(draw(10_000, Zipf(exponent: 0.8, count: 20)).allSatisfy { $0 > 0 })
    #expect(draw(10, Zipf(exponent: 0.8, count: 1)) == [10])
  }

  private func draw(_ times: Int, _ zipf: Zipf) -> [Int] {
    var random = SeededRandom(seed: 1)
    var counts: [Int] = []
    for _ in 0..<times {
      let rank = zipf.rank(&random)
      while counts.count <= rank { counts.append(0) }
      counts[rank] += 1
    }
    return counts
  }
}
