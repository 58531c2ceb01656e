import MillpondSignals

/// A queue of waiters, ordered by priority and then by arrival.
///
/// A heap in which each waiter knows its place. The priority is read again when a waiter reaches
/// the front, since that of a shared get may have fallen.
///
/// - Complexity: O(log *n*) to enter, to leave, to be raised, and for each waiter that reaches the
///   front.
struct WaiterQueue<Turn: Sendable>: Sendable {
  typealias Waiter = QueuedWaiter<Turn>

  private var heap: [Entry] = []
  private var lastArrival = 0

  /// The greatest number of waiters.
  private let limit: Int

  init(limit: Int = .max) {
    self.limit = limit
  }

  private struct Entry: Sendable {
    let waiter: Waiter
    let arrival: Int
    var priority: Priority

    func goes(before other: Entry) -> Bool {
      priority == other.priority ? arrival < other.arrival : priority > other.priority
    }
  }

  /// The decision on a get that enters.
  enum Admission: Sendable {
    case waits

    /// A waiter starts, which may be another one; then the new one waits.
    case starts(Waiter)

    case refused
  }

  /// The outcome of a step.
  enum Step: Sendable {
    case next(Waiter)

    /// No waiter may have the turn.
    case none

    /// The priority of many waiters has fallen: another step is needed, with the lock free in
    /// between.
    case unknown
  }

  var isEmpty: Bool {
    heap.isEmpty
  }

  /// Whether there are more waiters than the limit, so that one has to start or leave at once.
  var isTooLong: Bool {
    heap.count > limit
  }

  /// Decides on the last waiter of a queue that was too long, after the given step; a waiter that
  /// is refused has left.
  mutating func admission(of last: Waiter, by step: Step) -> Admission {
    if case .next(let first) = step { return .starts(first) }
    _ = leave(last)
    return .refused
  }

  mutating func enter(_ waiter: Waiter) {
    lastArrival += 1
    waiter.place = heap.count
    heap.append(Entry(waiter: waiter, arrival: lastArrival, priority: waiter.priority))
    moveUp(heap.count - 1)
  }

  /// Moves a waiter forward whose priority has risen.
  mutating func raise(_ waiter: Waiter) {
    let priority = waiter.priority
    guard let place = waiter.place, heap[place].priority < priority else { return }
    heap[place].priority = priority
    moveUp(place)
  }

  /// Removes a waiter; returns whether it was still waiting.
  mutating func leave(_ waiter: Waiter) -> Bool {
    guard let place = waiter.place else { return false }
    remove(at: place)
    return true
  }

  /// Removes and returns the first waiter, if a waiter of its priority is admitted.
  ///
  /// - Parameter admits: Whether a waiter of this priority may have the turn.
  mutating func popFirst(if admits: (Priority) -> Bool) -> Step {
    for _ in 0..<Self.stepSize {
      guard let first = heap.first else { return .none }
      let priority = first.waiter.priority
      if priority < first.priority {
        heap[0].priority = priority
        moveDown(0)
        continue
      }
      guard admits(priority) else { return .none }
      remove(at: 0)
      return .next(first.waiter)
    }
    return .unknown
  }

  /// The greatest number of waiters whose priority has fallen that a step moves back.
  static var stepSize: Int { 64 }

  private mutating func remove(at place: Int) {
    swap(place, heap.count - 1)
    let gone = heap.removeLast()
    gone.waiter.place = nil
    guard place < heap.count else { return }
    moveUp(place)
    moveDown(place)
  }

  private mutating func moveUp(_ place: Int) {
    var place = place
    while place > 0, heap[place].goes(before: heap[(place - 1) / 2]) {
      swap(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func moveDown(_ place: Int) {
    var place = place
    while true {
      var next = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && heap[child].goes(before: heap[next]) { next = child }
      if next == place { return }
      swap(place, next)
      place = next
    }
  }

  private mutating func swap(_ place: Int, _ other: Int) {
    heap.swapAt(place, other)
    heap[place].waiter.place = place
    heap[other].waiter.place = other
  }
}

/// A get that waits for its turn, with its work, and then has the turn.
final class QueuedWaiter<Turn: Sendable>: @unchecked Sendable {
  // Sendable because `place` is touched only under the lock of the queue, and the work and the turn
  // under that of the gate.

  /// The lifetime of the wait.
  let lifetime: Lifetime

  /// The context of the caller.
  let caller: WorkContext?

  private let flight: FlightHandle?
  private var work: (@Sendable (Lifetime) -> Void)?
  private var heldTurn: Turn?
  private let ownPriority: Priority
  private let gate = Gate()
  private let rendezvous = Rendezvous()

  /// The place in the queue; nil before and after.
  fileprivate(set) var place: Int?

  init(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    self.lifetime = lifetime
    self.work = work
    caller = WorkContext.current
    flight = lookup.flight
    ownPriority = lookup.priority
  }

  /// The urgency at this moment, which is that of the flight that makes the get, if one does.
  var priority: Priority { flight?.priority ?? ownPriority }

  /// Calls `act` after every rise of the waiter's priority.
  ///
  /// Check the priority once more after this, since it may have risen before.
  func onRaise(_ act: @escaping @Sendable () -> Void) {
    guard let flight else { return }
    let listening = flight.onRaise(act)
    lifetime.onEnd { listening.dispose() }
  }

  /// Returns the work once; nil if it was returned before, or released.
  ///
  /// - Parameter change: Changes the turn under the same lock.
  func takeWork(_ change: (inout Turn?) -> Void = { _ in }) -> (@Sendable (Lifetime) -> Void)? {
    gate.withLock {
      change(&heldTurn)
      return exchange(&work, with: nil)
    }
  }

  /// The turn, from its start on.
  var turn: Turn? { gate.withLock { heldTurn } }

  /// Returns true for the second of two calls: one when the start returns, one at the end.
  func isSecond() -> Bool { rendezvous.isSecond() }
}
