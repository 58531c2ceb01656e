import MillpondSignals

/// Carries out tellings by closures, in order, one at a time, and refuses what comes too late.
final class Tellings<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable because the closures are called only by whoever has the mailbox's turn.
  private let told = Locked(ToldStripes())
  private let mailbox = Mailbox<Replay<Void>>()
  private let set: @Sendable (Value, Key) -> Signal<Void>
  private let remove: @Sendable (Key) -> Signal<Void>
  private let removeAll: @Sendable () -> Signal<Void>

  init(
    set: @escaping @Sendable (Value, Key) -> Signal<Void>,
    remove: @escaping @Sendable (Key) -> Signal<Void>,
    removeAll: @escaping @Sendable () -> Signal<Void>
  ) {
    self.set = set
    self.remove = remove
    self.removeAll = removeAll
  }

  func mark(for key: Key) -> Mark {
    .told(told.withLock { $0.last(key.hashValue) })
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = Replay(.deferred { self.carryOut(change) }, .keepRunning)
    mailbox.post(outcome) { $0.start() }
    return outcome.signal
  }

  private func carryOut(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      told.withLock { $0.tell(key.hashValue, revision) } ? set(value, key) : .just(())
    case .remove(let key, let revision):
      told.withLock { $0.tell(key.hashValue, revision) } ? remove(key) : .just(())
    case .removeAll(let revision):
      told.withLock { $0.tellAll(revision) } ? removeAll() : .just(())
    case .fill(let key, let stamped, let mark):
      mark.admits(told.withLock { $0.last(key.hashValue) }) ? set(stamped.value, key) : .just(())
    }
  }
}
