import MillpondSignals

/// The turn of a get that has a slot of a limit.
struct SlotTurn: Sendable {
  /// The lifetime of the turn, until it is ended.
  var lifetime: Lifetime?

  /// The slot that the work holds.
  let slot: HeldSlot

  /// Whether the end of the work has ended the wait, and not a caller that has left.
  var isOver = false
}

extension QueuedWaiter<SlotTurn> {
  /// Runs the work once and releases it, in the context of the slot that it holds; the end of the
  /// turn ends the waiter's lifetime.
  func start(holding slot: HeldSlot) {
    let turn = lifetime.child()
    turn.onEnd { self.lifetime.end { _ = self.takeWork { $0?.isOver = true } } }
    let work = takeWork { $0 = SlotTurn(lifetime: turn, slot: slot) }
    // The caller has left, so nothing needs the work.
    if lifetime.isEnded { return forget() }
    // The holder of the slot certainly waits for gets that are part of the work.
    turn.markAwaited()
    WorkContext.run(inNew: slot) { work?(turn) }
  }

  /// Releases the work, and ends the turn if it has begun; only then may another waiter take the
  /// turn.
  func forget() {
    var ended: SlotTurn?
    let work = takeWork {
      ended = $0
      $0?.lifetime = nil
    }
    withExtendedLifetime(work) {}  // released here, not under the lock
    ended?.slot.leaveOuter()
    ended?.lifetime?.end()
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
