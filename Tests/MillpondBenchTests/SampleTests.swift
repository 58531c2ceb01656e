import Testing

@testable import MillpondBench

@Suite struct SampleTests {
  @Test(arguments: [
    (Target(atMost: 10), "met"), (Target(atMost: 9.9), "missed"),
    (Target(atLeast: 10), "met"), (Target(atLeast: 10.1), "missed"),
    (Target(times: 2), "met"), (Target(times: 1.9), "missed"),
    (Target(over: 5), "met"), (Target(over: 4.9), "missed"),
    (Target(times: 1, floor: "other"), "met"), (Target(times: 0.9, floor: "other"), "missed"),
  ])
  func `each kind of target has its edge`(target: Target, verdict: String) {
    #expect(sample(10, [target]).verdict.rawValue == verdict)
  }

  @Test(arguments: [
    (20.0, 10.0, "met"), (20, 5, "met"), (40, 20, "met"), (40, 10, "missed"),
  ])
  func `a target may be kept in nanoseconds, as a multiple of the floor, or both`(
    ours: Double, floor: Double, verdict: String
  ) {
    let target = Target(atMost: 30, times: 3)

    #expect(sample(ours, [target], floor: floor).verdict.rawValue == verdict)
  }

  @Test func `all targets of a row have to be met`() {
    #expect(sample(10, [Target(atMost: 10), Target(times: 2)]).verdict == .met)
    #expect(sample(10, [Target(atMost: 10), Target(times: 1)]).verdict == .missed)
  }

  @Test func `a wrong sum outdoes all else`() {
    var wrong = sample(1, [Target(atMost: 10)])
    wrong.isSumRight = false

    #expect(wrong.verdict == .wrong)
  }

  @Test func `what was not measured meets no target and misses none`() {
    #expect(sample(nil, [Target(atMost: 10)]).verdict == .none)
    #expect(sample(10, [Target(times: 1, floor: "absent")]).verdict == .none)
  }

  @Test func `the table has ours, the verdict, the target, and the floors with multiples`() {
    let line = Table.line(sample(10, [Target(times: 0.75), Target(atMost: 12)]).cells)

    #expect(
      line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        == "row ns 10.0 missed ≤ 0.75 × floor, ≤ 12 floor 5.00 (2.00 ×), other 10.0 (1.00 ×)")
  }

  @Test func `a document has all samples`() throws {
    let document = try json([sample(10, [Target(atMost: 12)]), sample(nil, [])])

    #expect(document.ranges(of: "\"name\" : \"row\"").count == 2)
    #expect(document.contains("\"atMost\" : 12"))
  }

  private func sample(_ value: Double?, _ targets: [Target], floor: Double = 5) -> Sample {
    Sample(
      name: "row", summary: "a row", unit: "ns", value: value,
      floors: [
        Sample.Floor(name: "floor", value: floor), Sample.Floor(name: "other", value: 10),
      ], targets: targets)
  }
}
