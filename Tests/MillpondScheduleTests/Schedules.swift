import Foundation
import MillpondTesting
import Testing

extension Trait where Self == ConditionTrait {
  /// Only in a build with schedules.
  static var schedules: ConditionTrait {
    .enabled(
      if: ScheduleCheck.isAvailable, "MILLPOND_SCHEDULES=1 in the environment builds with schedules"
    )
  }
}

extension ScheduleEffort {
  /// For long programs, of which the first orders of each kind show the most.
  static let brief = ScheduleEffort(searchLimit: 40, randomCount: 40)

  /// For programs whose known faults few orders show.
  static let long = ScheduleEffort(searchLimit: 200, randomCount: 200)
}

/// Expects that no schedule of a program breaks its checks.
///
/// `MILLPOND_SCHEDULE_EFFORT` in the environment multiplies the number of schedules.
func expectNoFault(
  _ effort: ScheduleEffort = ScheduleEffort(searchLimit: 100, randomCount: 100),
  location: SourceLocation = #_sourceLocation,
  _ compose: @escaping (ScheduleProgram) -> Void
) {
  var effort = effort
  effort.searchLimit *= factor
  effort.randomCount *= factor
  let report = ScheduleCheck(compose).search(effort)
  if let failure = report.failure { Issue.record("\(failure)", sourceLocation: location) }
  if isVerbose {
    print(
      "schedules: \(report.count), different: \(report.distinctCount), all up to", terminator: " ")
    print("\(report.completeBound) preemptions, line \(location.line) of \(location.fileName)")
  }
}

private let environment = ProcessInfo.processInfo.environment
private let factor = environment["MILLPOND_SCHEDULE_EFFORT"].flatMap(Int.init) ?? 1
private let isVerbose = environment["MILLPOND_SCHEDULE_COUNTS"] != nil
