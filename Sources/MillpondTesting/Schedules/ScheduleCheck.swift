import Dispatch
import Foundation
import MillpondSignals

/// A search for an order of a few threads that breaks a promise.
///
///     let check = ScheduleCheck { program in
///       let memory = MemoryCache<String, Int>(countLimit: 10)
///       program.thread(["sets 1": { memory.set(1, for: "a") }])
///       program.thread(["removes": { memory.remove("a") }, "sets 2": { memory.set(2, for: "a") }])
///       program.whenQuiet { memory.peek("a") == nil ? "nothing is stored" : nil }
///     }
///     let report = check.search()
///     #expect(report.failure == nil, "\(report)")
///
/// The library's locks, atomic values, queues and background work are the points at which another
/// thread may go on, and so is the time between two calls of a thread; so is code of yours that uses
/// them. An order is a list of such switches: it can be searched, repeated and made shorter. Found
/// are deadlocks, programs without an end, and what the program's own checks say when all is quiet.
/// Weak orders of memory are not modelled: each change is seen by all threads at once. The library's
/// handlers of cancellations have no points, since the runtime holds a lock of its own meanwhile. A
/// thread that waits by other means than the library's, such as a semaphore, ends the search with
/// that complaint.
///
/// - Note: Needs a build with `MILLPOND_SCHEDULES=1` in the environment (``isAvailable``), and
///   `SWIFT_DETERMINISTIC_HASHING=1` at the run where the order of a dictionary matters.
public struct ScheduleCheck {
  let compose: (ScheduleProgram) -> Void

  /// Creates a check of a program.
  ///
  /// - Parameter compose: Makes the program anew, for each schedule.
  public init(_ compose: @escaping (ScheduleProgram) -> Void) {
    self.compose = compose
  }

  /// Whether the library was built with schedules.
  public static var isAvailable: Bool {
    #if MILLPOND_SCHEDULES
      true
    #else
      false
    #endif
  }

  #if MILLPOND_SCHEDULES
    /// Held during a search: what all caches share would let two searches wait for each other.
    static let turn = DispatchSemaphore(value: 1)

    /// Runs schedules until one fails, or the effort is spent; blocks this thread meanwhile.
    public func search(_ effort: ScheduleEffort = ScheduleEffort()) -> ScheduleReport {
      Self.turn.wait()
      defer { Self.turn.signal() }
      var search = ScheduleSearch(compose, effort)
      return search.report()
    }

    /// Runs one schedule, as a failure prints it; returns what is wrong, nil if nothing is.
    ///
    /// - Throws: ``ScheduleError`` if it is none, or if the program goes another way by now.
    public func replay(_ schedule: String) throws -> ScheduleFailure? {
      guard let known = Schedule(schedule) else { throw ScheduleError.unreadable(schedule) }
      Self.turn.wait()
      defer { Self.turn.signal() }
      var search = ScheduleSearch(compose, ScheduleEffort())
      return try search.replay(known)
    }
  #else
    /// Runs nothing: the library was built without schedules.
    public func search(_ effort: ScheduleEffort = ScheduleEffort()) -> ScheduleReport {
      ScheduleReport()
    }

    /// Throws: the library was built without schedules.
    public func replay(_ schedule: String) throws -> ScheduleFailure? {
      throw ScheduleError.unavailable
    }
  #endif
}
