public import MillpondSignals

/// A queue of waiters, ordered by priority and then by arrival.
///
/// A heap whose entries may be outdated: when the entry of a waiter that has left or has been
/// raised since comes up, it is skipped. The priority is read again at that moment, since that of a
/// shared get may have fallen.
struct TurnQueue: Sendable {
  private var heap: [Entry] = []

  /// The priority with which each waiter is in the heap.
  private var waiting: [ObjectIdentifier: Priority] = [:]
  private var lastArrival = 0

  private struct Entry: Sendable {
    let waiter: TurnWaiter
    let priority: Priority

    func goes(before other: Entry) -> Bool {
      priority == other.priority ? waiter.arrival < other.waiter.arrival : priority > other.priority
    }
  }

  var isEmpty: Bool {
    waiting.isEmpty
  }

  mutating func enter(_ waiter: TurnWaiter) {
    lastArrival += 1
    waiter.arrival = lastArrival
    push(waiter, waiter.lookup.priority)
  }

  /// Moves a waiter forward whose priority has risen.
  mutating func raise(_ waiter: TurnWaiter) {
    let priority = waiter.lookup.priority
    if let former = waiting[ObjectIdentifier(waiter)], former < priority { push(waiter, priority) }
  }

  /// Removes a waiter; returns whether it was still waiting.
  ///
  /// - Parameters:
  ///   - waiter: The waiter that leaves.
  ///   - gone: Receives outdated entries once they are most of the heap, so that a queue that does
  ///     not move stays small; to be released after the unlock.
  mutating func leave(_ waiter: TurnWaiter, clearing gone: inout [TurnWaiter]) -> Bool {
    guard waiting.removeValue(forKey: ObjectIdentifier(waiter)) != nil else { return false }
    if heap.count > 2 * waiting.count + 16 { clear(into: &gone) }
    return true
  }

  private mutating func clear(into gone: inout [TurnWaiter]) {
    let all = heap
    heap = []
    for entry in all {
      if waiting[ObjectIdentifier(entry.waiter)] == entry.priority {
        append(entry)
      } else {
        gone.append(entry.waiter)
      }
    }
  }

  /// Removes and returns the first waiter, if a waiter of its priority is admitted.
  ///
  /// - Parameters:
  ///   - gone: Receives the skipped entries, to be released after the unlock.
  ///   - admits: Whether a waiter of this priority may have the turn.
  mutating func popFirst(
    skipping gone: inout [TurnWaiter], if admits: (Priority) -> Bool
  ) -> TurnWaiter? {
    while let first = heap.first {
      let id = ObjectIdentifier(first.waiter)
      guard waiting[id] == first.priority else {
        gone.append(pop().waiter)
        continue
      }
      let priority = first.waiter.lookup.priority
      if priority < first.priority {
        push(pop().waiter, priority)
        continue
      }
      guard admits(priority) else { return nil }
      waiting[id] = nil
      return pop().waiter
    }
    return nil
  }

  private mutating func push(_ waiter: TurnWaiter, _ priority: Priority) {
    waiting[ObjectIdentifier(waiter)] = priority
    append(Entry(waiter: waiter, priority: priority))
  }

  private mutating func append(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0, heap[child].goes(before: heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes the first entry; the heap must not be empty.
  private mutating func pop() -> Entry {
    heap.swapAt(0, heap.count - 1)
    let first = heap.removeLast()
    var parent = 0
    while true {
      var next = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].goes(before: heap[next]) { next = child }
      if next == parent { return first }
      heap.swapAt(parent, next)
      parent = next
    }
  }
}

/// A get that waits for its turn, with its work.
final class TurnWaiter: @unchecked Sendable {
  // Sendable because `arrival` is touched only under the lock of the queue.
  let lookup: Lookup
  let lifetime: Lifetime

  /// The slot that it waits for, if its limit has slots.
  let slot: HeldSlot?
  var arrival = 0
  private let state: Locked<(work: (@Sendable (Lifetime) -> Void)?, turn: Lifetime?)>
  private let meeting = Meeting()

  init(
    _ lookup: Lookup, _ lifetime: Lifetime, _ slot: HeldSlot? = nil,
    _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    self.lookup = lookup
    self.lifetime = lifetime
    self.slot = slot
    state = Locked((work, nil))
  }

  /// Calls `act` after every rise of the waiter's priority.
  ///
  /// Check the priority once more after this, since it may have risen before.
  func onRaise(_ act: @escaping @Sendable () -> Void) {
    guard let flight = lookup.flight else { return }
    let listening = flight.onRaise(act)
    lifetime.onEnd { listening.dispose() }
  }

  /// Runs the work once and releases it; the end of the turn ends the waiter's lifetime.
  func start() {
    let turn = lifetime.child()
    turn.onEnd { self.lifetime.end() }
    let work = state.withLock { state in
      defer { state = (nil, turn) }
      return state.work
    }
    if !lifetime.isEnded { work?(turn) }
  }

  /// Releases the work, and ends the turn if it has begun; only then may another waiter take the
  /// turn.
  func forget() {
    let (work, turn) = state.withLock { state in
      defer { state = (nil, nil) }
      return state
    }
    _ = work  // released here, not under the lock
    turn?.end()
  }

  /// Returns true for the second of two calls: one when the start returns, one at the end.
  func isSecond() -> Bool { meeting.isSecond() }
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
  ///     the lifetime of the turn.
  @inlinable
  static func inTurn(
    _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal,
    _ take: @escaping @Sendable (Lifetime, @escaping @Sendable (Lifetime) -> Void) -> Void
  ) -> Signal {
    if case .cachedOnly = lookup.freshness { return .deferred(ask) }
    return Signal { asking, lifetime in
      let observer = asking.inContext(of: WorkContext.current)
      take(lifetime) { turn in
        ask().run(
          observer.replacingOther { event in
            if event.isTerminal { turn.end() }
            observer.other(event)
          }, turn)
      }
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
  var isHeld = false

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
