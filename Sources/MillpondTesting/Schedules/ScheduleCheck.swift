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
///     let report = await check.search()
///     #expect(report.failure == nil, "\(report)")
///
/// The library's locks, atomic values and background work are the points at which another thread
/// may go on; so is code of yours that uses them. An order is a list of such switches: it can be
/// searched, repeated and made shorter. Found are deadlocks, programs without an end, and what the
/// program's own checks say when all is quiet. Weak orders of memory are not modelled: each change
/// is seen by all threads at once. A thread that waits by other means than the library's, such as a
/// semaphore, or a task that is cancelled while it is about to await a value, ends the search with
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
      var search = ScheduleSearch(check: self, effort: effort)
      return search.report()
    }

    /// Runs one schedule, as a failure prints it; returns what is wrong, nil if nothing is.
    ///
    /// - Throws: ``ScheduleError`` if it is none, or if the program goes another way by now.
    public func replay(_ schedule: String) throws -> ScheduleFailure? {
      guard let known = Schedule(schedule) else { throw ScheduleError.unreadable(schedule) }
      Self.turn.wait()
      defer { Self.turn.signal() }
      var search = ScheduleSearch(check: self, effort: ScheduleEffort())
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

/// How long a ``ScheduleCheck`` searches.
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

/// What a ``ScheduleCheck`` has run and found.
public struct ScheduleReport: Sendable, CustomStringConvertible {
  /// The number of schedules.
  public internal(set) var count = 0

  /// The number of different schedules.
  public internal(set) var distinctCount = 0

  /// The number of preemptions up to which every schedule at locks was run; -1 if none was.
  public internal(set) var completeBound = -1

  /// The failure; nil if there was none.
  public internal(set) var failure: ScheduleFailure?

  /// The counts, and the failure.
  public var description: String {
    """
    \(count) schedules, \(distinctCount) of them different, all with up to \(completeBound) preemptions
    \(failure?.description ?? "")
    """
  }
}

/// An order of a program's threads that breaks a promise.
public struct ScheduleFailure: Sendable, CustomStringConvertible {
  /// What is wrong.
  public let complaint: String

  /// The schedule, for ``ScheduleCheck/replay(_:)``.
  public let schedule: String

  /// The number of times a thread was stopped that could have gone on.
  public let preemptions: Int

  /// The calls of the shortest program that fails, and the places where threads stop for others.
  public let steps: [String]

  /// What is wrong, the schedule and the steps.
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
