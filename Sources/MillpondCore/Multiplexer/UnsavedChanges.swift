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

/// All unsaved changes.
struct Backlog<Key: Hashable & Sendable>: Sendable {
  /// A key whose last change failed to be saved.
  struct Failure: Sendable {
    let revision: Revision

    /// Whether an older value may still be stored, which must not reappear.
    let hasRemains: Bool
  }

  /// Dropped notes and their keys, to be released after the unlock.
  struct Gone {
    var failures: [(key: Key, value: Failure)] = []
    var keys: Set<Key> = []
  }

  private(set) var failures: [Key: Failure] = [:]

  /// The revision up to which everything is to be removed; nil if nothing is.
  private(set) var removal: Revision?

  /// The keys that have been saved since that removal, as far as they are noted.
  private var savedSince: Set<Key> = []

  /// Whether everything in memory is to be saved.
  var isOfAll = false

  var count: Int { failures.count }

  var isEmpty: Bool { failures.isEmpty && removal == nil && !isOfAll }

  /// Whether a value of the key that is stored may be one that is removed or replaced.
  func hides(_ key: Key) -> Bool {
    if failures[key]?.hasRemains == true { return true }
    return removal != nil && !savedSince.contains(key)
  }

  mutating func failed<Value>(_ change: Change<Key, Value>) -> Gone? {
    switch change {
    case .set(let key, _, let revision): add(key, revision, hasRemains: true)
    case .fill(let key, _, let token): add(key, min(token.revision, .present), hasRemains: false)
    // The removal after a set that could not be stored has that set's revision.
    case .remove(let key, let revision): add(key, revision, hasRemains: true)
    case .removeAll(let revision): removal = max(removal ?? .none, revision)
    case .removeMatching(_, let revision):
      // The keys are unknown, so everything older goes, and what is in memory is saved again.
      removal = max(removal ?? .none, revision)
      isOfAll = true
    }
    return nil
  }

  /// Takes a change that has been carried out.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - limit: The greatest number of keys that are noted as saved since a removal that failed; a
  ///     further one is hidden until that succeeds, and is fetched.
  mutating func saved<Value>(_ change: Change<Key, Value>, limit: Int) -> Gone? {
    switch change {
    case .set(let key, _, let revision):
      noteSaved(key, revision, limit)
      return forget(key, upTo: revision)
    case .fill(let key, _, let token):
      noteSaved(key, min(token.revision, .present), limit)
      return forget(key, upTo: min(token.revision, .present))
    case .remove(let key, let revision): return forget(key, upTo: revision)
    case .removeMatching: return nil
    case .removeAll(let revision):
      var gone = forgetAll { $0.revision <= revision }
      if let removal, removal <= revision {
        self.removal = nil
        swap(&gone.keys, &savedSince)
      }
      return gone
    }
  }

  private mutating func noteSaved(_ key: Key, _ revision: Revision, _ limit: Int) {
    guard let removal, revision > removal, savedSince.count < limit else { return }
    savedSince.insert(key)
  }

  mutating func forget(_ key: Key, upTo revision: Revision) -> Gone? {
    guard !failures.isEmpty, let place = failures.index(forKey: key),
      failures.values[place].revision <= revision
    else { return nil }
    return Gone(failures: [failures.remove(at: place)])
  }

  /// Merges the notes of single keys into one for everything.
  mutating func merge() -> Gone? {
    let revisions = failures.values.filter(\.hasRemains).map(\.revision)
    if let last = revisions.max() { removal = max(removal ?? .none, last) }
    isOfAll = true
    return forgetAll { _ in true }
  }

  private mutating func add(_ key: Key, _ revision: Revision, hasRemains: Bool) {
    let present = failures[key]
    if let present, present.revision >= revision { return }
    let hasRemains = hasRemains || present?.hasRemains ?? false
    failures[key] = Failure(revision: revision, hasRemains: hasRemains)
  }

  private mutating func forgetAll(_ isGone: (Failure) -> Bool) -> Gone {
    if failures.isEmpty { return Gone() }
    let former = failures
    failures = former.filter { !isGone($0.value) }
    return Gone(failures: Array(former))
  }
}
