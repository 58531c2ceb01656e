public import MillpondSignals

/// Those who wait for their turn: the most urgent first, then by arrival.
///
/// A heap in which an entry may be out of date: who has left, or become more urgent meanwhile, is
/// passed over when the entry comes up. Urgency is looked at again at that moment, since that of a
/// shared get may have fallen.
struct TurnQueue: Sendable {
  private var heap: [Entry] = []

  /// The urgency by which each is in the heap.
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

  /// Brings one forward who waits, and has become more urgent.
  mutating func raise(_ waiter: TurnWaiter) {
    let priority = waiter.lookup.priority
    if let former = waiting[ObjectIdentifier(waiter)], former < priority { push(waiter, priority) }
  }

  /// Whether the one who leaves was still waiting.
  ///
  /// - Parameter gone: Takes those who have left when they are most of the heap, so that a queue
  ///   that doesn't move keeps no more of them; to be released out of the lock.
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

  /// The next one, if the turn may be given to one of that urgency.
  ///
  /// - Parameter gone: Takes who is passed over, to be released out of the lock.
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

  /// Called only while there is a first.
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

/// One who wants a turn: whether the end came before the start returned decides who goes on.
final class TurnWaiter: @unchecked Sendable {
  // Sendable because `arrival` is touched only under the lock of the queue.
  let lookup: Lookup
  let lifetime: Lifetime

  /// The slot that it waits for, where it is one.
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

  /// Calls `act` when whoever waits has become more urgent.
  ///
  /// A raise that came before anybody listened has to be looked for after this.
  func onRaise(_ act: @escaping @Sendable () -> Void) {
    guard let flight = lookup.flight else { return }
    let listening = flight.onRaise(act)
    lifetime.onEnd { listening.dispose() }
  }

  /// Does the work, once, and lets go of it; the end of its lifetime is that of the waiter's.
  func start() {
    let turn = lifetime.child()
    turn.onEnd { self.lifetime.end() }
    let work = state.withLock { state in
      defer { state = (nil, turn) }
      return state.work
    }
    if !lifetime.isEnded { work?(turn) }
  }

  /// Lets go of the work, and stops it if it has begun: only then may another take the turn.
  func forget() {
    let (work, turn) = state.withLock { state in
      defer { state = (nil, nil) }
      return state
    }
    _ = work  // released here, not under the lock
    turn?.end()
  }

  /// Called at the return of the start, and at the end; true for the one that comes second.
  func isSecond() -> Bool { meeting.isSecond() }
}

extension Signal {
  /// What `ask` gives, when it is its turn; an ask for what is cached only has none to wait for.
  ///
  /// The turn ends with the answer, or when the asker leaves.
  ///
  /// - Parameter take: Waits, for as long as the lifetime lasts, and then runs what it is given, with
  ///   the lifetime of the turn.
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

/// A slot that work holds, or is to hold, as the context of that work.
///
/// While its holder waits for other work that wants a slot of the same limit, it is lent, and counts as
/// free. Only while it is held: what tasks ask for that outlive the work lends nothing.
///
/// Sendable because what varies is touched only under the lock of the limit.
final class HeldSlot: NestedContext, @unchecked Sendable {
  private let limit: ObjectIdentifier

  /// Changes what the limit knows of the slot, under its lock.
  private let change: @Sendable (HeldSlot, (HeldSlot) -> Void) -> Void
  var isHeld = false

  /// How many gets the holder waits for.
  var waits = 0

  /// How many gets the holder may wait for: they were subscribed to, and for what can't be known.
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

  /// If what was lent is in use, the next slot that comes free is not passed on.
  override func takeSlotBack(isCertain: Bool) {
    count(-1, isCertain)
  }

  private func count(_ change: Int, _ isCertain: Bool) {
    self.change(self) { slot in
      if isCertain { slot.waits += change } else { slot.doubtfulWaits += change }
    }
  }
}
