public import MillpondSignals

extension Source {
  /// Runs at most `count` gets at once; the others wait, the most urgent first, then in order.
  ///
  /// A get has its slot from its start to its end, or until its asker leaves. What is there at once
  /// needs none, nor does an ask for what is cached only. Tellings are not limited. A get of a flight
  /// is as urgent as that is at the moment: an urgent asker who joins brings it forward.
  ///
  /// A get that asks for more through the same limit lends its slot while it waits for that, by what it
  /// returns or in a task. Of what it only subscribes to, nobody can know whether it waits for it: that
  /// waits for a slot, unless all slots are held by such gets, in which case one more runs. Tasks that
  /// outlive the get have no slot to lend.
  ///
  /// - Parameters:
  ///   - count: How many; less than one is taken as one.
  ///   - reserved: How many of these are kept for asks of normal or high priority. At least one is
  ///     for everybody, whatever is reserved, so that nobody waits for ever.
  /// - Complexity: O(log *n*) to wait, of *n* that do.
  @inlinable
  public func limited(to count: Int, reserved: Int = 0) -> Limited<Self> {
    Limited(base: self, slots: Slots(count, reserved: reserved))
  }
}

/// A source or cache of which few gets run at once.
public struct Limited<Base: Source>: Detour {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let slots: Slots

  @inlinable
  init(base: Base, slots: Slots) {
    self.base = base
    self.slots = slots
  }

  @usableFromInline var title: String { slots.title }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    .inTurn(lookup, ask) { slots.take(lookup, $0, $1) }
  }
}

extension Limited: Cache where Base: Cache {}

/// A few slots, and those who wait for one.
@usableFromInline
package final class Slots: Sendable {
  private let count: Int
  private let reserved: Int
  private let state: Locked<SlotState>

  @usableFromInline
  package init(_ count: Int, reserved: Int) {
    self.count = max(1, count)
    self.reserved = min(max(0, reserved), self.count - 1)
    state = Locked(SlotState(count: self.count, reserved: self.reserved))
  }

  /// What the limit is, for those who look.
  @usableFromInline
  var title: String {
    "limited to \(count)" + (reserved > 0 ? ", \(reserved) reserved" : "")
  }

  /// Calls `work` when a slot is free, with the lifetime that gives it back when it ends; not at
  /// all if `lifetime` ends before.
  ///
  /// Work that holds a slot already, and waits for this work, lends it meanwhile.
  @usableFromInline
  package func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    let asker = WorkContext.current
    let slot = HeldSlot(of: ObjectIdentifier(self), within: asker) { self.change($0, $1) }
    let waiter = TurnWaiter(lookup, lifetime.child(), slot) { turn in
      // What the work waits for inside its turn, it waits for for certain.
      turn.markAwaited()
      WorkContext.run(inNew: slot) { work(turn) }
    }
    // Its end comes before that of the slot, so that a slot that was lent goes back to its holder.
    asker?.wait(forSlotOf: ObjectIdentifier(self), until: waiter.lifetime)
    let hasToWait = state.withLock { !$0.enter(waiter) }
    waiter.lifetime.onEnd {
      slot.leaveOuter()
      self.leave(waiter)
    }
    guard hasToWait else { return run(waiter) }
    waiter.onRaise { self.raise(waiter) }
    // It may have been raised before that was heard, or be urgent enough for what is reserved.
    raise(waiter)
  }

  /// Changes what is known of a slot, and starts those for whom that makes room.
  private func change(_ slot: HeldSlot, _ body: (HeldSlot) -> Void) {
    state.withLock { $0.change(slot, body) }
    startWaiting()
  }

  private func raise(_ waiter: TurnWaiter) {
    state.withLock { $0.queue.raise(waiter) }
    startWaiting()
  }

  /// Starts those who wait, for as long as there are slots for them: in a loop, so that any number
  /// whose work ends inside its start need no stack.
  private func startWaiting() {
    while let waiter = next() { start(waiter) }
  }

  private func run(_ waiter: TurnWaiter) {
    start(waiter)
    startWaiting()
  }

  private func start(_ waiter: TurnWaiter) {
    waiter.start()
    if waiter.isSecond() { giveBack(waiter) }
  }

  private func leave(_ waiter: TurnWaiter) {
    var gone: [TurnWaiter] = []  // released here, not under the lock
    let wasWaiting = state.withLock { $0.queue.leave(waiter, clearing: &gone) }
    waiter.forget()
    guard !wasWaiting, waiter.isSecond() else { return }
    giveBack(waiter)
    startWaiting()
  }

  private func giveBack(_ waiter: TurnWaiter) {
    guard let slot = waiter.slot else { return }
    state.withLock { $0.change(slot) { $0.isHeld = false } }
  }

  private func next() -> TurnWaiter? {
    var gone: [TurnWaiter] = []  // released here, not under the lock
    return state.withLock { $0.next(skipping: &gone) }
  }
}

/// How many slots are free, and the queue for them.
private struct SlotState: Sendable {
  let count: Int

  /// Less than none while more are out than there are, for some were lent.
  var free: Int
  let reserved: Int
  var queue = TurnQueue()

  /// How many slots are held by work of which can't be known whether it waits.
  private var doubtful = 0

  init(count: Int, reserved: Int) {
    self.count = count
    free = count
    self.reserved = reserved
  }

  mutating func change(_ slot: HeldSlot, _ body: (HeldSlot) -> Void) {
    count(slot, -1)
    body(slot)
    count(slot, 1)
  }

  private mutating func count(_ slot: HeldSlot, _ change: Int) {
    guard slot.isHeld, slot.waits == 0 else { return }
    free -= change
    if slot.doubtfulWaits > 0 { doubtful += change }
  }

  /// Whether there is a slot for work of that priority.
  ///
  /// If all that hold slots may be waiting, there is one more: they might wait for ever.
  private func hasRoom(for priority: Priority) -> Bool {
    free > (priority == .low ? reserved : 0) || doubtful > 0 && doubtful == count - free
  }

  /// Takes a slot for the waiter, or lets it wait, in which case this is false.
  mutating func enter(_ waiter: TurnWaiter) -> Bool {
    if queue.isEmpty, hasRoom(for: waiter.lookup.priority) {
      hold(waiter)
      return true
    }
    queue.enter(waiter)
    return false
  }

  /// Takes a slot for the next one in the queue, if there is one for it.
  mutating func next(skipping gone: inout [TurnWaiter]) -> TurnWaiter? {
    guard hasRoom(for: .high) else { return nil }
    let hasRoomForLow = hasRoom(for: .low)
    let waiter = queue.popFirst(skipping: &gone) { $0 != .low || hasRoomForLow }
    if let waiter { hold(waiter) }
    return waiter
  }

  private mutating func hold(_ waiter: TurnWaiter) {
    if let slot = waiter.slot { change(slot) { $0.isHeld = true } }
  }
}
