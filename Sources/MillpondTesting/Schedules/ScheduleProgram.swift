/// A short program of a few threads, of which a ``ScheduleCheck`` runs every order.
///
/// It is made anew for each schedule, with everything that its calls use. One thread runs at a time,
/// so that calls may share plain variables. What is begun while it is made is done before its threads
/// begin.
public final class ScheduleProgram {
  var threads: [[ScheduledCall]] = []
  var checks: [() -> String?] = []

  init() {}

  /// Adds a thread that makes calls, one after the other.
  ///
  ///     program.thread(["sets 1": { cache.set(1, for: "a") }, "removes": { cache.remove("a") }])
  ///
  /// - Parameter calls: The calls, with the names under which a failure lists them. A call must not
  ///   wait by other means than the library's: a semaphore stops the schedule.
  public func thread(_ calls: KeyValuePairs<String, () -> Void>) {
    threads.append(calls.map { ScheduledCall(name: $0.key, run: $0.value) })
  }

  /// Adds a check for the moment when no thread has work left.
  ///
  /// The work that a check begins ends before the next check.
  ///
  /// - Parameter check: Returns what is wrong; nil if nothing is.
  public func whenQuiet(_ check: @escaping () -> String?) {
    checks.append(check)
  }

  /// Returns the calls of the threads, without those with these numbers.
  func calls(without omitted: [Int]) -> [[ScheduledCall]] {
    var number = -1
    return threads.map { calls in
      calls.filter { _ in
        number += 1
        return !omitted.contains(number)
      }
    }
  }

  /// Releases all that the program uses.
  func removeAll() { (threads, checks) = ([], []) }
}

/// A call of a scheduled thread.
struct ScheduledCall {
  let name: String
  let run: () -> Void
}
