import Testing

@testable import MillpondBench

@Suite struct MeasurementTests {
  @Test(arguments: [
    (20.0, 10.0, "met"), (20, 5, "by ns"), (40, 20, "by ratio"), (40, 10, "missed"),
  ])
  func `a target may be kept in nanoseconds, as a multiple of the floor, or both`(
    ours: Double, floor: Double, verdict: String
  ) {
    #expect(measured(ours, floor: floor, target: 30).verdict == verdict)
  }

  @Test func `a promise about the ratio itself holds on any machine`() {
    #expect(measured(11, floor: 10, ratioTarget: 1).verdict == "missed")
    #expect(measured(10, floor: 10, ratioTarget: 1).verdict == "met")
  }

  @Test func `a wrong sum outdoes all else, and too many allocations outdo time`() {
    #expect(measured(1, floor: 10, target: 30, isSumRight: false).verdict == "WRONG")
    #expect(measured(1, floor: 10, target: 30, mallocs: 3).verdict == "mallocs")
    #expect(measured(1, floor: 10, target: 30, mallocs: 2).verdict == "met")
  }

  @Test func `the peer is compared with the floor of where it was measured`() {
    #expect(measured(1, floor: 1_000).peerRatio == 10)
  }

  /// On a machine where the floor took 10 ns.
  private func measured(
    _ ours: Double, floor: Double, target: Double? = nil, ratioTarget: Double? = nil,
    mallocs: Double = 0, isSumRight: Bool = true
  ) -> Measurement {
    let work = Work("floor", elsewhere: 10, expected: { $0 }, run: { $0 })
    let row = Row(
      name: "row", summary: "", target: target, mallocTarget: 2, ratioTarget: ratioTarget,
      peer: .rxSwift(100), baseline: work, body: work)
    return Measurement(
      row, nanoseconds: ours, baselineNanoseconds: floor, mallocs: mallocs, isSumRight: isSumRight)
  }
}
