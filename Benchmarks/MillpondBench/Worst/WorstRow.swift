import Foundation
import MillpondSignals

/// An operation that is about to be measured.
struct WorstCase: Sendable {
  /// A cheap operation that another thread repeats meanwhile.
  var neighbour: @Sendable () -> Void = {}

  /// The work that is measured.
  let body: @Sendable () throws -> Void

  /// Checks that the work was done, and ends the preparation.
  let check: @Sendable () throws -> Bool
}

extension Row {
  /// Creates a row of two samples: the cost at the greatest size beside that at a small one, and the
  /// wait of another thread.
  ///
  /// - Parameters:
  ///   - greatest: The greatest number of things for which the wait is promised.
  ///   - wait: The longest promised wait, in milliseconds; nil for work that is not Millpond's.
  ///   - isSingle: Whether it is one operation beside *n* things, and not work on all of them; its
  ///     wait alone has a target.
  ///   - prepare: Prepares the operation on that many things.
  static func worst(
    _ name: String, _ summary: String, greatest: Int, wait: Double?, isSingle: Bool = false,
    prepare: @escaping @Sendable (Int) throws -> WorstCase
  ) -> Row {
    Row("worst-\(name)", summary) { run, report in
      let sizes = run.isQuick ? [1_000, 100] : [greatest, min(1_000, greatest / 10)]
      // Linear with the effect of the processor's caches.
      let growth = pow(Double(sizes[0] / sizes[1]), 0.1)
      var cost = Sample(
        name: "worst-\(name)", summary: "\(summary), n = \(sizes[0])", unit: "ns",
        targets: wait == nil || isSingle ? [] : [Target(times: growth)])
      let works = sizes.map { size in
        Work.worst(size, few: isSingle ? 1 : size, prepare) { try $0.body() }
      }
      // The best of several, since other processes disturb them.
      let repetitions = run.count(2, quick: 1)
      try cost.measure(
        works, isSingle ? 1 : sizes[0], repetitions: repetitions, clock: processorSeconds)
      report(cost)
      var longest = Sample(
        name: "worst-\(name)-wait",
        summary: "the longest time that others worked while another thread waited", unit: "ms",
        targets: wait.map { [Target(atMost: $0)] } ?? [])
      let waited = Kept(0.0)
      let waits = Work.worst(sizes[0], few: 1, prepare) { waited.value += try longestWait($0) }
      try longest.measure(
        [waits], 1, repetitions: repetitions, clock: { waited.value })
      report(longest)
    }
  }
}

extension Work {
  /// Returns work on something that is prepared anew for each repetition.
  fileprivate static func worst(
    _ size: Int, few: Int, _ prepare: @escaping @Sendable (Int) throws -> WorstCase,
    _ body: @escaping @Sendable (WorstCase) throws -> Void
  ) -> Work {
    let prepared = Kept<WorstCase?>(nil)
    return Work(
      "n = \(size)", few: few, expected: { _ in try prepared.value?.check() == true ? 1 : 0 },
      prepare: { prepared.value = try prepare(size) },
      run: { _ in
        if let work = prepared.value { try body(work) }
        return 1
      })
  }
}

/// Returns the longest time, in seconds, that others of this process worked while a neighbour waited;
/// the rest of a wait is the system's, which let neither of them run.
private func longestWait(_ work: WorstCase) throws -> Double {
  let (isOver, longest, failure) = (Locked(false), Kept(0.0), Kept<(any Error)?>(nil))
  together(2) { thread in
    if thread == 1 {
      do { try work.body() } catch { failure.value = error }
      return isOver.withLock { $0 = true }
    }
    while !isOver.withLock({ $0 }) {
      let preemptions = SystemReport.preemptionsOfThread
      let (start, others) = (wallSeconds(), processorSeconds() - threadSeconds())
      work.neighbour()
      let busy = min(wallSeconds() - start, processorSeconds() - threadSeconds() - others)
      // A preempted thread did not wait for the work.
      if SystemReport.preemptionsOfThread == preemptions {
        longest.value = max(longest.value, busy)
      }
    }
  }
  if let error = failure.value { throw error }
  return longest.value
}
