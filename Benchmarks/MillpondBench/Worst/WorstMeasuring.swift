import Foundation
import MillpondSignals
import Synchronization

extension WorstRow {
  /// Measures the row at every size that is affordable.
  func measure(_ effort: WorstEffort) throws -> WorstMeasurement {
    var figures: [WorstFigures] = []
    for size in effort.sizes where size <= max(greatest, effort.sizes[0]) {
      guard isAffordable(size, after: figures, effort) else { break }
      var best = WorstFigures(size: size)
      for _ in 0..<effort.repetitions {
        if unit == .bytes {
          try best.takeBytes(of: prepare(size))
        } else {
          try best.takeCost(of: prepare(size))
          try best.takeWait(beside: prepare(size))
        }
      }
      figures.append(best)
    }
    return WorstMeasurement(self, figures)
  }

  /// Whether a size is expected to take no longer than the effort allows.
  private func isAffordable(
    _ size: Int, after figures: [WorstFigures], _ effort: WorstEffort
  ) -> Bool {
    guard unit == .total, let last = figures.last else { return true }
    let growth = max(1, figures.suffix(2).growth ?? 1)
    let expected = last.cost * pow(Double(size) / Double(last.size), growth)
    return .seconds(expected) <= effort.limit
  }
}

extension WorstFigures {
  /// Does the work alone, and records its processor time on all threads.
  fileprivate mutating func takeCost(of work: WorstCase) throws {
    let start = processorSeconds()
    try work.body()
    cost = min(cost, processorSeconds() - start)
    isSumRight = try work.check() && isSumRight
  }

  /// Does the work, and records the memory that is in use after it and was not before; zero where
  /// that is not known.
  ///
  /// The greatest figure counts: memory of former work is freed meanwhile.
  fileprivate mutating func takeBytes(of work: WorstCase) throws {
    let before = heapUse() ?? 0
    try work.body()
    let bytes = Double((heapUse() ?? 0) - before) / Double(size)
    cost = cost == .infinity ? bytes : max(cost, bytes)
    isSumRight = try work.check() && isSumRight
  }

  /// Does the work while another thread repeats a cheap operation, and records the longest time of
  /// that, and how much of it other threads of the process have worked.
  fileprivate mutating func takeWait(beside work: WorstCase) throws {
    let neighbour = Neighbour(work.neighbour)
    try work.body()
    let waits = neighbour.end()
    longestWait = min(longestWait, waits.longest)
    busiestWait = min(busiestWait, waits.busiest)
    isSumRight = try work.check() && isSumRight
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
        let preemptions = preemptionsOfThread()
        let others = processorSeconds() - threadSeconds()
        let start = ContinuousClock.now
        work()
        let duration = start.duration(to: .now) / .seconds(1)
        // A preempted thread did not wait for the work.
        if duration <= busiest || preemptionsOfThread() != preemptions { continue }
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

/// Returns the time that the processor has spent on this process.
private func processorSeconds() -> Double {
  Double(clock_gettime_nsec(CLOCK_PROCESS_CPUTIME_ID)) / 1_000_000_000
}

/// Returns the time that the processor has spent on this thread.
func threadSeconds() -> Double {
  Double(clock_gettime_nsec(CLOCK_THREAD_CPUTIME_ID)) / 1_000_000_000
}

private func clock_gettime_nsec(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}
