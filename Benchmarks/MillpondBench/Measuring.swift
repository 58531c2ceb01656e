/// How a row came out.
struct Measurement: Encodable {
  let name: String
  let summary: String
  let baseline: String
  let nanoseconds: Double
  let baselineNanoseconds: Double
  let ratio: Double
  let target: Double?
  let isMet: Bool?
  let mallocs: Double?
  let mallocTarget: Double?
  let areMallocsMet: Bool?
  let isSumRight: Bool
}

/// How often, and how many at a time.
struct Effort {
  let repetitions: Int
  let operations: Int

  static let full = Effort(repetitions: 25, operations: 100_000)

  /// Enough to find a wrong sum.
  static let quick = Effort(repetitions: 3, operations: 4_000)
}

/// Measures a row: floor and body by turns, the best of each.
func measure(_ row: Row, _ effort: Effort) -> Measurement {
  var floor = Timing(row.baseline, effort.operations)
  var body = Timing(row.body, effort.operations)
  for _ in 0..<effort.repetitions {
    floor.repeatOnce()
    body.repeatOnce()
  }
  let mallocs = AllocationCount.during { body.repeatOnce() }.map {
    (Double($0) / Double(effort.operations) * 100).rounded() / 100
  }
  return Measurement(
    name: row.name, summary: row.summary, baseline: row.baseline.name,
    nanoseconds: body.best, baselineNanoseconds: floor.best, ratio: body.best / floor.best,
    target: row.target, isMet: row.target.map { body.best <= $0 },
    mallocs: mallocs, mallocTarget: row.mallocTarget,
    areMallocsMet: row.mallocTarget.flatMap { target in mallocs.map { $0 <= target + 0.01 } },
    isSumRight: floor.isSumRight && body.isSumRight)
}

private struct Timing {
  private let work: Work
  private let operations: Int
  private(set) var best = Double.infinity
  private(set) var isSumRight = true

  init(_ work: Work, _ operations: Int) {
    self.work = work
    self.operations = operations
  }

  mutating func repeatOnce() {
    let start = ContinuousClock.now
    let sum = work.run(operations)
    let duration = start.duration(to: .now)
    best = min(best, duration / .nanoseconds(1) / Double(operations))
    isSumRight = isSumRight && sum == work.expected(operations)
  }
}
