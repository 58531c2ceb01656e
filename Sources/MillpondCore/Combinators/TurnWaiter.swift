import MillpondSignals
import Synchronization

/// One who wants a turn: whether the end came before the start returned decides who goes on.
final class TurnWaiter: @unchecked Sendable {
  // Sendable because `arrival` is touched only under the lock of the queue.
  let lookup: Lookup
  let lifetime: Lifetime
  var arrival = 0
  private let work: Locked<(@Sendable (Lifetime) -> Void)?>
  private let isMet = Atomic<Bool>(false)

  init(_ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void) {
    self.lookup = lookup
    self.lifetime = lifetime
    self.work = Locked(work)
  }

  /// Calls `act` when whoever waits has become more urgent.
  ///
  /// A raise that came before anybody listened has to be looked for after this.
  func onRaise(_ act: @escaping @Sendable () -> Void) {
    guard let flight = lookup.flight else { return }
    let listening = flight.onRaise(act)
    lifetime.onEnd { listening.dispose() }
  }

  /// Does the work, once, and lets go of it.
  func start() {
    let work = takeWork()
    if !lifetime.isEnded { work?(lifetime) }
  }

  /// Lets go of the work: nobody wants it any more.
  func forget() {
    _ = takeWork()
  }

  private func takeWork() -> (@Sendable (Lifetime) -> Void)? {
    work.withLock { work in
      defer { work = nil }
      return work
    }
  }

  /// Called at the return of the start, and at the end; true for the one that comes second.
  func isSecond() -> Bool {
    isMet.exchange(true, ordering: .acquiringAndReleasing)
  }
}
