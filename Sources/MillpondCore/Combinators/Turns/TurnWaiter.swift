import MillpondSignals
import Synchronization

/// One who wants a turn: whether the end came before the start returned decides who goes on.
final class TurnWaiter: @unchecked Sendable {
  // Sendable because `arrival` is touched only under the lock of the queue.
  let lookup: Lookup
  let lifetime: Lifetime

  /// The slot that it waits for, where it is one.
  let slot: HeldSlot?
  var arrival = 0
  private let state: Locked<(work: (@Sendable (Lifetime) -> Void)?, turn: Lifetime?)>
  private let isMet = Atomic<Bool>(false)

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
  func isSecond() -> Bool {
    isMet.exchange(true, ordering: .acquiringAndReleasing)
  }
}
