public import MillpondSignals

/// The changes that failed to reach the persistence, and those that have not reached it yet.
///
/// They are noted by key up to a limit. Beyond it they are merged: then everything in memory is to
/// be saved, and every value in the persistence that is older than the last of them is to be
/// removed.
final class UnsavedChanges<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let backlog = Locked(Backlog<Key>())

  /// The ends of the changes that are under way.
  private let pending = Locked(Registry<WriteOutcome>())

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

  /// Returns the unsaved changes; a flush repeats them, and those that fail again are noted again.
  func beginFlush() -> Backlog<Key> {
    backlog.withLock { backlog in
      defer { backlog.isOfAll = false }
      return backlog
    }
  }

  /// Notes how a change ends.
  func watch<Value>(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    if outcome.isDone { return note(change, isSaved: true) }
    // A fill that is not admitted sends nothing.
    let isAdmitted = SerialState(!change.isFill)
    wait(for: outcome) { [self] event in
      switch event {
      case .next: isAdmitted.value = true
      case .progress: break
      case .completed: if isAdmitted.value { note(change, isSaved: true) }
      case .failed(let error): if !change.isUnsupported(error) { note(change, isSaved: false) }
      }
    }
  }

  /// Makes a flush wait for the end of a change that has not succeeded already.
  func wait(
    for outcome: Signal<Void>, _ receive: @escaping @Sendable (Event<Void>) -> Void = { _ in }
  ) {
    let end = WriteOutcome()
    let number = pending.withLock { $0.add(end) }
    outcome.subscribe { [pending] event in
      receive(event)
      guard event.isTerminal else { return }
      pending.discard { $0.remove(number) }
      // Last, since a flush that waits for this looks at the notes next.
      end.end()?()
    }
  }

  /// The ends of the changes that are under way now; none of them fails, since failures are noted.
  var ends: [Signal<Void>] {
    pending.withLock { $0.elements.map(\.signal) }
  }

  private func note<Value>(_ change: Change<Key, Value>, isSaved: Bool) {
    let gone = backlog.withLock { backlog -> [Backlog<Key>.Gone] in
      let gone = isSaved ? backlog.saved(change) : backlog.failed(change)
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
    var hasRemains: Bool
  }

  /// Dropped notes and their keys, to be released after the unlock.
  typealias Gone = [(key: Key, value: Failure)]

  private(set) var failures: [Key: Failure] = [:]

  /// The revision up to which everything is to be removed; nil if nothing is.
  private(set) var removal: Revision?

  /// Whether everything in memory is to be saved.
  var isOfAll = false

  var count: Int { failures.count }

  var isEmpty: Bool { failures.isEmpty && removal == nil && !isOfAll }

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

  mutating func saved<Value>(_ change: Change<Key, Value>) -> Gone? {
    switch change {
    case .set(let key, _, let revision): return forget(key, upTo: revision)
    case .fill(let key, _, let token): return forget(key, upTo: min(token.revision, .present))
    case .remove(let key, let revision):
      guard failures[key]?.revision == revision else { return forget(key, upTo: revision) }
      failures[key]?.hasRemains = false
      return nil
    case .removeMatching: return nil
    case .removeAll(let revision):
      if let removal, removal <= revision { self.removal = nil }
      return forgetAll { $0.revision <= revision }
    }
  }

  mutating func forget(_ key: Key, upTo revision: Revision) -> Gone? {
    guard !failures.isEmpty, let place = failures.index(forKey: key),
      failures.values[place].revision <= revision
    else { return nil }
    return [failures.remove(at: place)]
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

  private mutating func forgetAll(_ isGone: (Failure) -> Bool) -> Gone? {
    if failures.isEmpty { return nil }
    let former = failures
    failures = former.filter { !isGone($0.value) }
    return Array(former)
  }
}

/// A cache that notes the changes that it could not save.
@usableFromInline
struct Saving<Base: Cache>: Wrapper, Cache {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value

  @usableFromInline let base: Base
  let unsaved: UnsavedChanges<Key>
  @usableFromInline var title: String { "saving" }

  @usableFromInline
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  @usableFromInline
  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup)
  }

  @usableFromInline
  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    unsaved.watch(change, outcome)
    guard case .set(let key, _, let revision) = change, !outcome.isDone else { return outcome }
    // Here rather than in the layer above, so that a flush waits for the removal too. Otherwise the
    // removal could come after the flush has saved the value again, and remove it.
    let whole = WriteOutcome.orRemoved(key, revision, in: self, base, outcome)
    unsaved.wait(for: whole)
    return whole
  }

  @usableFromInline
  func topology(for key: Key?) -> Topology {
    base.topology(for: key)
  }
}
