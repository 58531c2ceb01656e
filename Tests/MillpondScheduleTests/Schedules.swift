import Foundation
import MillpondSignals
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
/// `MILLPOND_SCHEDULE_EFFORT` in the environment multiplies the number of schedules, and with
/// `MILLPOND_SCHEDULE_COUNTS` each program's are counted. The sum is printed in the end, with the
/// places that no schedule has switched at.
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
    let counts = "\(report)".prefix { $0 != "\n" }
    print("\(counts), line \(location.line) of \(location.fileName)")
  }
  total.withLock { $0 = $0.map { $0 + report } ?? report }
  _ = printsTotal
}

/// The reports of all programs, printed when the process exits.
private let total = Locked<ScheduleReport?>(nil)
private let printsTotal: Void = {
  atexit { if let total = total.withLock({ $0 }) { print("all programs: \(total)") } }
}()

private let environment = ProcessInfo.processInfo.environment
private let factor = environment["MILLPOND_SCHEDULE_EFFORT"].flatMap(Int.init) ?? 1
private let isVerbose = environment["MILLPOND_SCHEDULE_COUNTS"] != nil
