import MillpondSignals

/// The changes that failed to reach the persistence, and those that have not reached it yet; so also
/// which of the values there must not be seen.
///
/// They are noted by key up to a limit. Beyond it they are merged: then everything in memory is to
/// be saved, and every value in the persistence that is older than the last of them is to be
/// removed.
final class UnsavedChanges<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let backlog = Locked(Backlog<Key>())

  /// The ends of the changes that are under way.
  private let pending = Locked(Registry<Promise<Void>>())

  /// The removals that are under way.
  private let removals = Locked(Registry<Removal>())

  private enum Removal: Sendable {
    case ofKey(Key)
    case ofAll
    case matching(KeyPredicate<Key>)

    init?<Value>(_ change: Change<Key, Value>) {
      switch change {
      case .set, .fill: return nil
      case .remove(let key, _): self = .ofKey(key)
      case .removeAll: self = .ofAll
      case .removeMatching(let predicate, _): self = .matching(predicate)
      }
    }

    func removes(_ key: Key) -> Bool {
      switch self {
      case .ofKey(let removed): removed == key
      case .ofAll: true
      case .matching(let predicate): predicate.isSatisfied(by: key)
      }
    }
  }

  /// Creates an empty record.
  ///
  /// - Parameter limit: The number of keys that are noted one by one.
  init(limit: Int = 4_096) {
    self.limit = limit
  }

  /// Whether no change is known to be unsaved.
  var isEmpty: Bool {
    backlog.withLock { $0.isEmpty }
  }

  /// Whether the persistence may have a value of the key that is removed already, or replaced.
  ///
  /// Decided before a value is looked up, and again when it is delivered: its removal may end, or
  /// fail, in between.
  func hides(_ key: Key) -> Bool {
    // The predicates are the user's, so none runs under the lock.
    let removals = removals.withLock { Array($0.elements) }
    return removals.contains { $0.removes(key) } || backlog.withLock { $0.hides(key) }
  }

  /// Returns the unsaved changes; a flush repeats them, and those that fail again are noted again.
  func beginFlush() -> Backlog<Key> {
    backlog.withLock { backlog in
      defer { backlog.isOfAll = false }
      return backlog
    }
  }

  /// Notes how a change ends, for which a flush waits.
  func watch<Value>(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    if outcome.isDone { return note(change, isSaved: true) }
    backlog.withLock { $0.begin(change.key) }
    // A fill that is not admitted sends nothing.
    let isAdmitted = SerialState(!change.isFill)
    let removal = Removal(change).map { removal in removals.withLock { $0.add(removal) } }
    let end = Promise<Void>()
    let number = pending.withLock { $0.add(end) }
    outcome.subscribe { [self] event in
      switch event {
      case .next: isAdmitted.value = true
      case .progress: break
      case .completed: if isAdmitted.value { note(change, isSaved: true) }
      case .failed(let error): if !change.isUnsupported(error) { note(change, isSaved: false) }
      }
      guard event.isTerminal else { return }
      backlog.discard { $0.end(change.key) }
      // After the note of a failure, which hides the same values.
      if let removal { removals.discard { $0.remove(removal) } }
      pending.discard { $0.remove(number) }
      // Last, since a flush that waits for this looks at the notes next.
      end.end()
    }
  }

  /// The ends of the changes that are under way now; none of them fails, since failures are noted.
  var ends: [Signal<Void>] {
    pending.withLock { $0.elements.map(\.outcome) }
  }

  private func note<Value>(_ change: Change<Key, Value>, isSaved: Bool) {
    let gone = backlog.withLock { backlog -> [Backlog<Key>.Gone] in
      let gone = isSaved ? backlog.saved(change, limit: limit) : backlog.failed(change)
      return [gone, backlog.count > limit ? backlog.merge() : nil].compactMap { $0 }
    }
    withExtendedLifetime(gone) {}  // released here, not under the lock
  }

  /// Drops the note of a key, unless the key has changed since.
  func forget(_ key: Key, _ failure: Backlog<Key>.Failure) {
    backlog.discard { $0.forget(key, upTo: failure.revision) }
  }
}

extension Change {
  /// Whether this removal by predicate failed because the persistence can't find its keys, so that
  /// a flush could not carry it out either.
  fileprivate func isUnsupported(_ error: any Error) -> Bool {
    guard case .removeMatching = self, case CacheError.unsupported = error else { return false }
    return true
  }
}
