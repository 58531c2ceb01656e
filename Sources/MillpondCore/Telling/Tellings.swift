import MillpondSignals

/// Carries out tellings by closures, in order, one at a time, and refuses what comes too late.
final class Tellings<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable because the closures are called only by whoever has the mailbox's turn.
  private let told = Locked(ToldKeys())
  private let mailbox = Mailbox<(change: Change<Key, Value>, promise: Promise<Void>)>()
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
    .told(told.withLock { $0.mark(key.hashValue) })
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let promise = Promise<Void>()
    mailbox.post((change, promise)) { telling in telling.promise.keep(by: carryOut(telling.change))
    }
    return promise.outcome
  }

  private func carryOut(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      isInTime(key, revision) ? set(value, key) : .just(())
    case .remove(let key, let revision):
      isInTime(key, revision) ? remove(key) : .just(())
    case .removeAll(let revision):
      told.withLock { $0.tellAll(revision) } ? removeAll() : .just(())
    case .fill(let key, let stamped, let mark):
      isInTime(key, mark) ? set(stamped.value, key) : .just(())
    }
  }

  /// The store is not ours: what it was told last is remembered for every key.
  private func isInTime(_ key: Key, _ revision: Revision) -> Bool {
    let hash = key.hashValue
    return told.withLock { told in
      told.outdateFills(hash, revision)
      if told.outdates(hash, revision) { return false }
      told.remember(hash, revision)
      return true
    }
  }

  private func isInTime(_ key: Key, _ mark: Mark) -> Bool {
    let hash = key.hashValue
    return told.withLock { told in
      guard mark.admits(told.mark(hash)) else { return false }
      if mark.isReload { told.outdateFills(hash, .next()) }
      return true
    }
  }
}
