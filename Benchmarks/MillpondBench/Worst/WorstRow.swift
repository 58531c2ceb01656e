import Foundation
import MillpondSignals
import Synchronization

/// Returns the rows about worst cases: how the cost of an operation grows with the number of things,
/// and how long another thread waits meanwhile, up to the sizes for which that is promised.
func worstRows() -> [Row] {
  worstFloorRows() + worstMemoryRows() + worstFlightRows() + worstEntityRows() + worstDiskRows()
    + worstByteRows()
}

/// An operation that is about to be measured.
struct WorstCase {
  /// A cheap operation that another thread repeats meanwhile.
  var neighbour: @Sendable () -> Void = {}

  /// The work that is measured.
  let body: () throws -> Void

  /// Checks that the work was done, and ends the preparation.
  let check: () throws -> Bool
}

/// The cost that grows.
enum WorstCost {
  /// Of work on all of *n* things, for each of them.
  case total

  /// Of one operation beside *n* things.
  case single

  /// The memory of each of *n* things.
  case bytes
}

extension Row {
  /// Creates a row of two samples: the cost at the greatest size beside that at a small one, and the
  /// wait of another thread.
  ///
  /// - Parameters:
  ///   - greatest: The greatest number of things for which the wait is promised.
  ///   - wait: The longest promised wait, in milliseconds; nil without a promise.
  ///   - target: The greatest cost, in the unit of the row.
  ///   - isFloor: Whether it shows work that is not Millpond's, which has no targets.
  ///   - prepare: Prepares the operation on that many things.
  static func worst(
    _ name: String, _ summary: String, _ cost: WorstCost = .total, greatest: Int,
    wait: Double? = nil, target: Double? = nil, isFloor: Bool = false,
    prepare: @escaping (Int) throws -> WorstCase
  ) -> Row {
    Row("worst-\(name)", summary) { run, report in
      let sizes = run.isQuick ? [100, 1_000] : [min(1_000, greatest / 10), greatest]
      // The best of several, since other processes disturb them.
      let repetitions = run.count(2, quick: 1)
      let figures = try sizes.map { try WorstFigures(cost, $0, repetitions, prepare) }
      // Linear with the effect of the processor's caches, or almost none.
      let growth = pow(Double(sizes[1] / sizes[0]), cost == .total ? 0.1 : 0.2)
      let targets = [Target(times: growth)] + (target.map { [Target(atMost: $0)] } ?? [])
      report(
        Sample(
          name: "worst-\(name)", summary: "\(summary): cost with n = \(sizes[1])",
          unit: cost.unit, value: figures[1].cost,
          floors: [Sample.Floor(name: "n = \(sizes[0])", value: figures[0].cost)],
          targets: isFloor ? [] : targets, isSumRight: figures.allSatisfy(\.isSumRight)))
      if cost == .bytes { return }
      report(
        Sample(
          name: "worst-\(name)-wait",
          summary: "the longest time that others worked while another thread waited", unit: "ms",
          value: figures[1].busiestWait * 1_000,
          floors: [
            Sample.Floor(name: "with the system's share", value: figures[1].longestWait * 1_000)
          ],
          targets: wait.map { [Target(atMost: $0)] } ?? [], isSumRight: figures[1].isSumRight))
    }
  }
}

extension WorstCost {
  fileprivate var unit: String {
    switch self {
    case .total: "ns"
    case .single: "µs"
    case .bytes: "bytes"
    }
  }
}

/// The figures of a row at one size: the best of several repetitions.
private struct WorstFigures {
  private(set) var cost = Double.infinity

  /// The longest wait, and the longest time of the processor on other threads of the process during
  /// one, in seconds; the rest of a wait is the system's, which let neither of them run.
  private(set) var longestWait = Double.infinity
  private(set) var busiestWait = Double.infinity
  private(set) var isSumRight = true

  init(
    _ kind: WorstCost, _ size: Int, _ repetitions: Int, _ prepare: (Int) throws -> WorstCase
  ) throws {
    for _ in 0..<repetitions {
      let work = try prepare(size)
      let before = (seconds: processorSeconds(), bytes: SystemReport.heapBytes ?? 0)
      try work.body()
      let seconds = processorSeconds() - before.seconds
      let bytes = (SystemReport.heapBytes ?? 0) - before.bytes
      isSumRight = try work.check() && isSumRight
      switch kind {
      case .total: cost = min(cost, seconds / Double(size) * 1e9)
      case .single: cost = min(cost, seconds * 1e6)
      case .bytes:
        // The greatest counts: memory of former work is freed meanwhile.
        cost = max(cost == .infinity ? 0 : cost, Double(bytes) / Double(size))
        continue
      }
      let other = try prepare(size)
      let neighbour = Neighbour(other.neighbour)
      try other.body()
      let waits = neighbour.end()
      longestWait = min(longestWait, waits.longest)
      busiestWait = min(busiestWait, waits.busiest)
      isSumRight = try other.check() && isSumRight
    }
  }
}

/// A thread that repeats a cheap operation, and records its longest time, and the longest that the
/// other threads of the process worked during one.
private final class Neighbour: Sendable {
  private let isOver = Atomic<Bool>(false)
  private let hasBegun = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let waits = Locked((longest: 0.0, busiest: 0.0))

  /// Returns when the thread is at work.
  init(_ work: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      work()
      var (longest, busiest) = (0.0, 0.0)
      hasBegun.signal()
      while !isOver.load(ordering: .relaxed) {
        let preemptions = SystemReport.preemptionsOfThread
        let others = processorSeconds() - threadSeconds()
        let start = wallSeconds()
        work()
        let duration = wallSeconds() - start
        // A preempted thread did not wait for the work.
        if duration <= busiest || SystemReport.preemptionsOfThread != preemptions { continue }
        longest = max(longest, duration)
        busiest = max(busiest, min(duration, processorSeconds() - threadSeconds() - others))
      }
      waits.withLock { [longest, busiest] in $0 = (longest, busiest) }
      hasEnded.signal()
    }
    hasBegun.wait()
  }

  /// Ends the thread, and returns the two times in seconds.
  func end() -> (longest: Double, busiest: Double) {
    isOver.store(true, ordering: .relaxed)
    hasEnded.wait()
    return waits.withLock { $0 }
  }
}

/// The growth of work, and the waits, that are not Millpond's.
private func worstFloorRows() -> [Row] {
  [
    .worst(
      "floor-dictionary", "n new keys in a dictionary, and their removal", greatest: 1_000_000,
      isFloor: true
    ) { count in
      var dictionary: [Int: Int] = [:]
      return WorstCase {
        for key in 0..<count { dictionary[key] = key }
        for key in 0..<count { dictionary[key] = nil }
      } check: {
        dictionary.isEmpty
      }
    },
    .worst(
      "floor-lock", "n additions under a lock that is never held for a microsecond",
      greatest: 1_000_000, isFloor: true
    ) { count in
      let sum = Locked(0)
      return WorstCase(neighbour: { sum.withLock { $0 += 0 } }) {
        for _ in 0..<count { sum.withLock { for _ in 0..<100 { $0 += 1 } } }
      } check: {
        sum.withLock { $0 == 100 * count }
      }
    },
  ]
}
