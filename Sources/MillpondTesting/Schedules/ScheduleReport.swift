/// The effort of a ``ScheduleCheck``: the number of schedules that it runs.
public struct ScheduleEffort: Sendable {
  /// The number of preemptions up to which every schedule is run, switching at locks only.
  public var preemptions: Int

  /// The greatest number of these schedules for each number of preemptions.
  public var searchLimit: Int

  /// The number of random schedules, half of them by random priorities, switching at all points.
  public var randomCount: Int

  /// The seed of the random schedules.
  public var seed: UInt64

  /// Creates an effort.
  public init(
    preemptions: Int = 2, searchLimit: Int = 300, randomCount: Int = 300, seed: UInt64 = 1
  ) {
    self.preemptions = preemptions
    self.searchLimit = searchLimit
    self.randomCount = randomCount
    self.seed = seed
  }
}

/// The result of a ``ScheduleCheck``: the schedules that it has run, and the failure.
public struct ScheduleReport: Sendable, CustomStringConvertible {
  /// The number of schedules.
  public internal(set) var count = 0

  /// The number of different schedules.
  public internal(set) var distinctCount = 0

  /// The number of preemptions up to which every schedule at locks was run; -1 if the effort ended
  /// before all without preemptions were.
  public internal(set) var completeBound = -1

  /// The places that the threads have passed, by file and line, and whether another thread has gone
  /// on there in one of the schedules.
  public internal(set) var places: [String: Bool] = [:]

  /// The failure; nil if there was none.
  public internal(set) var failure: ScheduleFailure?

  /// The counts, the places that were never switched at, and the failure.
  public var description: String {
    let bound =
      completeBound < 0
      ? "not all without preemptions" : "all at locks with up to \(completeBound) preemptions"
    let others = places.filter { !$0.value }.keys.sorted()
    var lines = ["\(count) schedules, \(distinctCount) of them different, \(bound)"]
    lines.append("\(places.count) places, \(others.count) of them never switched at")
    lines += others.map { "  \($0)" }
    if let failure { lines.append("\(failure)") }
    return lines.joined(separator: "\n")
  }

  /// The sum of the reports of two programs.
  package static func + (one: ScheduleReport, other: ScheduleReport) -> ScheduleReport {
    var sum = one
    sum.count += other.count
    sum.distinctCount += other.distinctCount
    sum.completeBound = min(one.completeBound, other.completeBound)
    sum.failure = one.failure ?? other.failure
    sum.places.merge(other.places) { $0 || $1 }
    return sum
  }
}

/// An order of a program's threads that breaks a promise.
public struct ScheduleFailure: Sendable, CustomStringConvertible {
  /// The complaint of a check, or of the search.
  public let complaint: String

  /// The schedule, for ``ScheduleCheck/replay(_:)``.
  public let schedule: String

  /// The number of times a thread was stopped that could have gone on.
  public let preemptions: Int

  /// The calls of the shortest program that fails, and the places where threads stop for others.
  public let steps: [String]

  /// The complaint, the schedule and the steps.
  public var description: String {
    """
    \(complaint)
    with the schedule \(schedule), \(preemptions) preemptions:
    \(steps.map { "  \($0)" }.joined(separator: "\n"))
    """
  }
}

/// A schedule that can't be repeated.
public enum ScheduleError: Error, Equatable {
  /// The text is no schedule.
  case unreadable(String)

  /// The program goes another way than when the schedule was found.
  case changed(String)

  /// The library was built without schedules.
  case unavailable
}
