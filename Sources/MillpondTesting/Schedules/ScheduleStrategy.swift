/// A choice of the thread that goes on, at each point of a schedule.
protocol ScheduleStrategy: AnyObject {
  /// Whether a thread that yields may go on at once, as it does where each has a processor.
  var staysAtYields: Bool { get }

  /// Begins another schedule; returns false if there is none.
  func beginNext() -> Bool

  /// Returns a place in `ready`.
  ///
  /// - Parameters:
  ///   - ready: The threads that can go on: at least two, the present one first, or last if it
  ///     yields.
  ///   - isFree: Whether the present one can't go on.
  ///   - step: The number of the point.
  func choose(_ ready: [Int], isFree: Bool, step: Int) -> Int
}

/// Every schedule with at most so many preemptions.
final class PreemptionSearch: ScheduleStrategy {
  private struct Choice {
    var place: Int
    let count: Int
  }

  let staysAtYields = false
  private let bound: Int
  private var choices: [Choice] = []
  private var depth = 0
  private var preemptions = 0
  private var hasBegun = false

  /// Whether there are schedules with more preemptions.
  private(set) var isCut = false

  init(bound: Int) {
    self.bound = bound
  }

  func beginNext() -> Bool {
    (depth, preemptions) = (0, 0)
    guard hasBegun else {
      hasBegun = true
      return true
    }
    while let last = choices.last {
      if last.place + 1 < last.count {
        choices[choices.count - 1].place += 1
        return true
      }
      choices.removeLast()
    }
    return false
  }

  func choose(_ ready: [Int], isFree: Bool, step: Int) -> Int {
    if !isFree, preemptions == bound {
      isCut = true
      return 0
    }
    if depth == choices.count { choices.append(Choice(place: 0, count: ready.count)) }
    let place = min(choices[depth].place, ready.count - 1)
    depth += 1
    if !isFree, place > 0 { preemptions += 1 }
    return place
  }
}

/// Random choices at all points.
final class RandomWalk: ScheduleStrategy {
  let staysAtYields = false
  private var generator: SeededGenerator
  private var left: Int

  init(seed: UInt64, count: Int) {
    generator = SeededGenerator(seed: seed)
    left = count
  }

  func beginNext() -> Bool {
    left -= 1
    return left >= 0
  }

  func choose(_ ready: [Int], isFree: Bool, step: Int) -> Int {
    .random(in: 0..<ready.count, using: &generator)
  }
}

/// Random priorities, some of which change at random points.
///
/// A fault that needs few switches is found with a probability that has a lower bound.
///
/// - Source: Burckhardt et al., A randomized scheduler with probabilistic guarantees (2010).
final class PriorityWalk: ScheduleStrategy {
  let staysAtYields = true
  private var generator: SeededGenerator
  private var left: Int
  private let changeCount: Int
  private var changes: Set<Int> = []
  private var priorities: [Int: Int] = [:]
  private var lowest = 0

  /// The length of the longest schedule so far.
  private var length = 16

  init(seed: UInt64, count: Int, changeCount: Int) {
    generator = SeededGenerator(seed: seed)
    left = count
    self.changeCount = changeCount
  }

  func beginNext() -> Bool {
    left -= 1
    priorities = [:]
    lowest = 0
    changes = Set((0..<changeCount).map { _ in .random(in: 1...length, using: &generator) })
    return left >= 0
  }

  func choose(_ ready: [Int], isFree: Bool, step: Int) -> Int {
    length = max(length, step)
    for thread in ready where priorities[thread] == nil {
      priorities[thread] = .random(in: 1...1_000_000, using: &generator)
    }
    if changes.contains(step) {
      lowest -= 1
      priorities[ready[0]] = lowest
    }
    return ready.indices.max {
      priorities[ready[$0], default: 0] < priorities[ready[$1], default: 0]
    }
      ?? 0
  }
}

/// One schedule, by its switches.
final class RepeatedSchedule: ScheduleStrategy {
  let staysAtYields = true
  private let switches: [Int: Int]
  private var hasBegun = false

  /// Whether the program went another way.
  private(set) var isLost = false

  init(_ switches: [ScheduleSwitch]) {
    self.switches = Dictionary(switches.map { ($0.step, $0.thread) }) { $1 }
  }

  func beginNext() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  func choose(_ ready: [Int], isFree: Bool, step: Int) -> Int {
    guard let thread = switches[step] else { return 0 }
    guard let place = ready.firstIndex(of: thread) else {
      isLost = true
      return 0
    }
    return place
  }
}

/// A point at which another thread goes on than would by itself.
struct ScheduleSwitch: Hashable, Sendable {
  let step: Int
  let thread: Int
}
