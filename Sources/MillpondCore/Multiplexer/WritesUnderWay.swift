import MillpondSignals

/// The writes that may have reached the persistence of a map, but not its memory.
///
/// A flush must not take the value in memory for the latest one meanwhile.
final class WritesUnderWay: Sendable {
  private struct State: Sendable {
    var revisions = PendingRevisions()
    var waiting: [(promise: Promise<Void>, last: UInt64)] = []
  }

  private let state = Locked(State())

  /// The earliest of them; the greatest revision if there is none.
  var earliest: Revision {
    Revision(number: state.withLock { $0.revisions.oldest })
  }

  /// Carries out a write to the persistence and to memory.
  ///
  /// - Parameters:
  ///   - revision: The place of the write; nil if no flush has to regard it.
  ///   - write: The write, which has reached both when this returns.
  func run(_ revision: Revision?, _ write: () -> Signal<Void>) -> Signal<Void> {
    guard let number = revision?.number else { return write() }
    state.withLock { $0.revisions.begin(number) }
    let outcome = write()
    let ended = state.withLock { state in
      state.revisions.end(number)
      if state.waiting.isEmpty { return [] as [Promise<Void>] }
      let oldest = state.revisions.oldest
      let ended = state.waiting.partition { $0.last < oldest }
      defer { state.waiting.removeSubrange(ended...) }
      return state.waiting[ended...].map(\.promise)
    }
    if ended.isEmpty { return outcome }
    // Not on this thread, which may hold a user's lock.
    runInBackground { for promise in ended { promise.keep(by: .just(())) } }
    return outcome
  }

  /// Completes when those that are under way now have ended.
  func ended() -> Signal<Void> {
    let (promise, last) = (Promise<Void>(), Revision.present.number)
    let mustWait = state.withLock { state in
      if state.revisions.oldest > last { return false }
      state.waiting.append((promise, last))
      return true
    }
    return mustWait ? promise.outcome : .just(())
  }
}
