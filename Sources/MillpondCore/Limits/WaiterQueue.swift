public import MillpondSignals

/// A queue of waiters, ordered by priority and then by arrival.
///
/// A heap in which each waiter knows its place. The priority is read again when a waiter reaches
/// the front, since that of a shared get may have fallen.
///
/// - Complexity: O(log *n*) to enter, to leave, to be raised, and for each waiter that reaches the
///   front.
struct WaiterQueue: Sendable {
  private var heap: [Entry] = []
  private var lastArrival = 0

  /// The greatest number of waiters.
  private let limit: Int

  init(limit: Int = .max) {
    self.limit = limit
  }

  private struct Entry: Sendable {
    let waiter: QueuedWaiter
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
    case starts(QueuedWaiter)

    case refused
  }

  /// The outcome of a step.
  enum Turn: Sendable {
    case next(QueuedWaiter)

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

  /// Decides on the last waiter of a queue that was too long, after the given turn; a waiter that
  /// is refused has left.
  mutating func admission(of last: QueuedWaiter, by turn: Turn) -> Admission {
    if case .next(let first) = turn { return .starts(first) }
    _ = leave(last)
    return .refused
  }

  mutating func enter(_ waiter: QueuedWaiter) {
    lastArrival += 1
    waiter.place = heap.count
    heap.append(Entry(waiter: waiter, arrival: lastArrival, priority: waiter.lookup.priority))
    moveUp(heap.count - 1)
  }

  /// Moves a waiter forward whose priority has risen.
  mutating func raise(_ waiter: QueuedWaiter) {
    let priority = waiter.lookup.priority
    guard let place = waiter.place, heap[place].priority < priority else { return }
    heap[place].priority = priority
    moveUp(place)
  }

  /// Removes a waiter; returns whether it was still waiting.
  mutating func leave(_ waiter: QueuedWaiter) -> Bool {
    guard let place = waiter.place else { return false }
    remove(at: place)
    return true
  }

  /// Removes and returns the first waiter, if a waiter of its priority is admitted.
  ///
  /// - Parameter admits: Whether a waiter of this priority may have the turn.
  mutating func popFirst(if admits: (Priority) -> Bool) -> Turn {
    for _ in 0..<Self.stepSize {
      guard let first = heap.first else { return .none }
      let priority = first.waiter.lookup.priority
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
  static let stepSize = 64

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

/// A get that waits for its turn, with its work.
final class QueuedWaiter: @unchecked Sendable {
  // Sendable because `place` is touched only under the lock of the queue, and the rest under its
  // own.
  let lookup: Lookup
  let lifetime: Lifetime

  let caller: WorkContext?

  /// The place in the queue; nil before and after.
  fileprivate(set) var place: Int?

  private let gate = Gate()
  private var work: (@Sendable (Lifetime) -> Void)?

  /// The lifetime of the turn, and the slot that the work holds, from its start on.
  private var turn: Lifetime?
  private var slot: HeldSlot?
  private let rendezvous = Rendezvous()

  init(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    self.lookup = lookup
    self.lifetime = lifetime.child()
    self.work = work
    caller = WorkContext.current
  }

  /// Calls `act` after every rise of the waiter's priority.
  ///
  /// Check the priority once more after this, since it may have risen before.
  func onRaise(_ act: @escaping @Sendable () -> Void) {
    guard let flight = lookup.flight else { return }
    let listening = flight.onRaise(act)
    lifetime.onEnd { listening.dispose() }
  }

  /// Runs the work once and releases it, in the context of the slot that it holds, or of the
  /// caller; the end of the turn ends the waiter's lifetime.
  func start(holding slot: HeldSlot? = nil) {
    let turn = lifetime.child()
    turn.onEnd { self.lifetime.end() }
    let work = gate.withLock {
      self.turn = turn
      self.slot = slot
      return exchange(&self.work, with: nil)
    }
    // The caller has left, so nothing needs the work.
    if lifetime.isEnded { return forget() }
    guard let slot else { return WorkContext.run(in: caller) { work?(turn) } }
    // The holder of the slot certainly waits for gets that are part of the work.
    turn.markAwaited()
    WorkContext.run(inNew: slot) { work?(turn) }
  }

  /// Releases the work, and ends the turn if it has begun; only then may another waiter take the
  /// turn.
  func forget() {
    let (work, turn, slot) = gate.withLock {
      (exchange(&self.work, with: nil), exchange(&self.turn, with: nil), self.slot)
    }
    withExtendedLifetime(work) {}  // released here, not under the lock
    slot?.leaveOuter()
    turn?.end()
  }

  /// Changes the slot that the work holds, if it has begun.
  func withSlot(_ body: (HeldSlot) -> Void) {
    if let slot = gate.withLock({ slot }) { body(slot) }
  }

  /// Returns true for the second of two calls: one when the start returns, one at the end.
  func isSecond() -> Bool { rendezvous.isSecond() }
}

extension Signal {
  /// Runs the signal of `ask` in its turn; a get with ``Freshness/cachedOnly`` needs none.
  ///
  /// The turn ends with the answer, or when the caller leaves.
  ///
  /// - Parameters:
  ///   - lookup: The terms of the get.
  ///   - ask: Makes the signal.
  ///   - take: Waits for the turn while the given lifetime lasts, and then runs the given work with
  ///     the lifetime of the turn; returns false if the get may not wait.
  ///   - refusal: Returns the error of a get that may not wait.
  @inlinable
  static func inTurn(
    _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal,
    _ take: @escaping @Sendable (Lifetime, @escaping @Sendable (Lifetime) -> Void) -> Bool,
    refusal: @escaping @Sendable () -> any Error
  ) -> Signal {
    if case .cachedOnly = lookup.freshness { return .deferred(ask) }
    return Signal { outside, lifetime in
      let caller = WorkContext.current
      let mayWait = take(lifetime) { turn in
        let observer = outside.inContext(of: caller)
        ask().run(
          observer.replacingOther { event in
            if event.isTerminal { turn.end() }
            observer.other(event)
          }, turn)
      }
      if !mayWait { outside.failed(refusal()) }
    }
  }
}

/// A slot that work holds or waits for, as the context of that work.
///
/// While its holder waits for other work that needs a slot of the same limit, the slot is lent and
/// counts as free. It can be lent only while it is held, so tasks that outlive the work lend
/// nothing.
///
/// Sendable because the mutable state is touched only under the lock of the limit.
final class HeldSlot: NestedContext, @unchecked Sendable {
  private let limit: ObjectIdentifier

  /// Changes the limit's record of the slot, under its lock.
  private let change: @Sendable (HeldSlot, (HeldSlot) -> Void) -> Void
  var isHeld = true

  /// The number of gets for which the holder waits.
  var waits = 0

  /// The number of subscribed gets for which the holder may or may not wait.
  var doubtfulWaits = 0

  init(
    of limit: ObjectIdentifier, within outer: WorkContext?,
    _ change: @escaping @Sendable (HeldSlot, (HeldSlot) -> Void) -> Void
  ) {
    self.limit = limit
    self.change = change
    super.init(within: outer)
  }

  override var heldLimit: ObjectIdentifier? { limit }

  override func lendSlot(isCertain: Bool) {
    count(1, isCertain)
  }

  /// Takes the slot back; if it is in use, the next slot that becomes free is not passed on.
  override func takeSlotBack(isCertain: Bool) {
    count(-1, isCertain)
  }

  private func count(_ change: Int, _ isCertain: Bool) {
    self.change(self) { slot in
      if isCertain { slot.waits += change } else { slot.doubtfulWaits += change }
    }
  }
}
