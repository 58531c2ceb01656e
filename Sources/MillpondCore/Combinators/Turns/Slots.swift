public import MillpondSignals

/// A few slots, and those who wait for one.
@usableFromInline
final class Slots: Sendable {
  private let count: Int
  private let reserved: Int
  private let state: Locked<SlotState>

  @usableFromInline
  init(_ count: Int, reserved: Int) {
    self.count = max(1, count)
    self.reserved = min(max(0, reserved), self.count - 1)
    state = Locked(SlotState(free: self.count, reserved: self.reserved))
  }

  /// What the limit is, for those who look.
  @usableFromInline
  var title: String {
    "limited to \(count)" + (reserved > 0 ? ", \(reserved) reserved" : "")
  }

  /// Makes one more, while a holder waits for others.
  func lend() {
    giveBack()
    startWaiting()
  }

  /// Takes back what was lent: if it is in use, the next that comes free is not passed on.
  func takeBack() {
    state.withLock { $0.free -= 1 }
  }

  /// Calls `work` when a slot is free, with the lifetime that gives it back when it ends; not at
  /// all if `lifetime` ends before.
  ///
  /// Who holds a slot already, and waits for this work, lends it meanwhile.
  @usableFromInline
  func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    let asker = WorkContext.current
    asker?.wait(for: ObjectIdentifier(self), until: lifetime)
    let slot = HeldSlot(
      owner: ObjectIdentifier(self), lend: { self.lend() }, takeBack: { self.takeBack() })
    let context = WorkContext.work(in: slot, within: asker)
    let waiter = TurnWaiter(lookup, lifetime.child()) { slot in
      WorkContext.run(in: context) { work(slot) }
    }
    let hasToWait = state.withLock { !$0.enter(waiter) }
    waiter.lifetime.onEnd { self.leave(waiter) }
    guard hasToWait else { return run(waiter) }
    waiter.onRaise { self.raise(waiter) }
    // It may have been raised before that was heard, or be urgent enough for what is reserved.
    raise(waiter)
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
    if waiter.isSecond() { giveBack() }
  }

  private func leave(_ waiter: TurnWaiter) {
    var gone: [TurnWaiter] = []  // released here, not under the lock
    let wasWaiting = state.withLock { $0.queue.leave(waiter, clearing: &gone) }
    waiter.forget()
    guard !wasWaiting, waiter.isSecond() else { return }
    giveBack()
    startWaiting()
  }

  private func giveBack() {
    state.withLock { $0.free += 1 }
  }

  private func next() -> TurnWaiter? {
    var gone: [TurnWaiter] = []  // released here, not under the lock
    return state.withLock { $0.next(skipping: &gone) }
  }
}

/// How many slots are free, and who waits.
private struct SlotState: Sendable {
  /// Less than none while more are out than there are, for some were lent.
  var free: Int
  let reserved: Int
  var queue = TurnQueue()

  init(free: Int, reserved: Int) {
    self.free = free
    self.reserved = reserved
  }

  /// Takes a slot for the waiter, or lets it wait, in which case this is false.
  mutating func enter(_ waiter: TurnWaiter) -> Bool {
    if queue.isEmpty, free > (waiter.lookup.priority == .low ? reserved : 0) {
      free -= 1
      return true
    }
    queue.enter(waiter)
    return false
  }

  /// Takes a slot for the next one who waits, if there is one for that one.
  mutating func next(skipping gone: inout [TurnWaiter]) -> TurnWaiter? {
    guard free > 0 else { return nil }
    let (free, reserved) = (free, reserved)
    let waiter = queue.popFirst(skipping: &gone) { free > ($0 == .low ? reserved : 0) }
    if waiter != nil { self.free -= 1 }
    return waiter
  }
}
