/// The result of a row.
struct Measurement: Encodable {
  let name: String
  let summary: String
  let isFloor: Bool
  let baseline: String
  let nanoseconds: Double
  let baselineNanoseconds: Double
  let target: Double?

  /// The target of the ratio, or the row's target as a multiple of the same floor if that was set.
  let ratioTarget: Double?

  let mallocs: Double?
  let mallocTarget: Double?
  let peer: Peer?

  /// The peer's time as a multiple of the same floor, where both were measured.
  let peerRatio: Double?

  let isSumRight: Bool

  /// Our time as a multiple of the floor's.
  let ratio: Double

  let isMet: Bool?
  let isRatioMet: Bool?
  let areMallocsMet: Bool?
}

/// The number of repetitions, and of operations in each.
struct Effort {
  let repetitions: Int
  let operations: Int

  static let full = Effort(repetitions: 25, operations: 100_000)

  /// Enough to find a wrong sum.
  static let quick = Effort(repetitions: 3, operations: 4_000)
}

/// Measures a row: floor and body by turns, then the best of each, or the median.
func measure(_ row: Row, _ effort: Effort) -> Measurement {
  let operations = effort.operations * row.figure.stretch
  var floor = Timing(row.baseline, operations)
  var body = Timing(row.body, operations)
  for _ in 0..<effort.repetitions {
    floor.repeatOnce()
    body.repeatOnce()
  }
  let mallocs = row.isCounted ? body.allocations() : nil
  return Measurement(
    row, nanoseconds: body.figure(row.figure), baselineNanoseconds: floor.figure(row.figure),
    mallocs: mallocs.map { (Double($0) / Double(operations) * 100).rounded() / 100 },
    isSumRight: floor.isSumRight && body.isSumRight)
}

extension Measurement {
  init(
    _ row: Row, nanoseconds: Double, baselineNanoseconds: Double, mallocs: Double?, isSumRight: Bool
  ) {
    name = row.name
    summary = row.summary
    isFloor = row.isFloor
    baseline = row.baseline.name
    self.nanoseconds = nanoseconds
    self.baselineNanoseconds = baselineNanoseconds
    target = row.target
    let elsewhere = row.baseline.elsewhere
    let targetThere = row.target.flatMap { target in elsewhere.map { target / $0 } }
    let ratioTarget = row.ratioTarget ?? targetThere
    self.ratioTarget = ratioTarget
    self.mallocs = mallocs
    mallocTarget = row.mallocTarget
    peer = row.peer
    peerRatio = row.peer.flatMap { peer in elsewhere.map { peer.nanoseconds / $0 } }
    self.isSumRight = isSumRight
    let ratio = nanoseconds / baselineNanoseconds
    self.ratio = ratio
    isMet = row.target.map { nanoseconds <= $0 }
    isRatioMet = ratioTarget.map { ratio <= $0 }
    areMallocsMet = row.mallocTarget.flatMap { target in mallocs.map { $0 <= target + 0.01 } }
  }
}

/// The repetitions of some work.
struct Timing {
  private let work: Work
  private let operations: Int
  private var times: [Double] = []
  private(set) var isSumRight = true

  init(_ work: Work, _ operations: Int) {
    self.work = work
    self.operations = operations
  }

  mutating func repeatOnce() {
    work.prepare()
    let start = ContinuousClock.now
    let sum = work.run(operations)
    let duration = start.duration(to: .now)
    times.append(duration / .nanoseconds(1) / Double(operations))
    isSumRight = isSumRight && sum == work.expected(operations)
  }

  /// Repeats the work once more, and returns the number of objects that it allocates.
  mutating func allocations() -> Int? {
    work.prepare()
    // Captured alone: the work's name may be a short string.
    let (run, operations) = (work.run, operations)
    var sum = 0
    let count = AllocationCount.during { sum = run(operations) }
    isSumRight = isSumRight && sum == work.expected(operations)
    return count
  }

  /// Nanoseconds of an operation.
  func figure(_ figure: Figure) -> Double {
    let sorted = times.sorted()
    return switch figure {
    case .best: sorted[0]
    case .median: sorted[sorted.count / 2]
    }
  }
}
