import MillpondSignals

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

  /// The changes of a key that are under way.
  struct UnderWay: Sendable {
    var count = 0

    /// The latest change that was saved meanwhile: an earlier one that fails after it leaves nothing
    /// to be saved.
    var saved = Revision.none
  }

  private var underWay: [Key: UnderWay] = [:]

  /// Notes that a change is under way, unless its key does not equal itself.
  mutating func begin(_ key: Key) {
    if key == key { underWay[key, default: UnderWay()].count += 1 }
  }

  /// Ends what ``begin(_:)`` began; returns the key that is no longer noted, to be released after the
  /// unlock.
  mutating func end(_ key: Key) -> Key? {
    guard let place = underWay.index(forKey: key) else { return nil }
    underWay.values[place].count -= 1
    return underWay.values[place].count == 0 ? underWay.remove(at: place).key : nil
  }

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
    case .set(let key, _, let revision): return saved(key, revision, limit)
    case .fill(let key, _, let token): return saved(key, min(token.revision, .present), limit)
    case .remove(let key, let revision):
      noteEnd(key, revision)
      return forget(key, upTo: revision)
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

  private mutating func saved(_ key: Key, _ revision: Revision, _ limit: Int) -> Gone? {
    if let removal, revision > removal, savedSince.count < limit { savedSince.insert(key) }
    noteEnd(key, revision)
    return forget(key, upTo: revision)
  }

  private mutating func noteEnd(_ key: Key, _ revision: Revision) {
    guard let place = underWay.index(forKey: key) else { return }
    underWay.values[place].saved = max(underWay.values[place].saved, revision)
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
    // The removal after a set that could not be stored has that set's revision.
    if let saved = underWay[key]?.saved, saved > revision { return }
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
