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
    var keys: [Key] = []
    var saved: [Key: Revision] = [:]
  }

  private(set) var failures: [Key: Failure] = [:]

  /// The revision up to which everything is to be removed; nil if nothing is.
  private(set) var removal: Revision?

  /// Whether everything in memory is to be saved.
  var isOfAll = false

  /// The numbers of changes under way: of single keys, and of many keys.
  private var underWay: [Key: Int] = [:]
  private var underWayOfMany = 0

  /// The latest saved change of each key for which an earlier one may still fail, and then must not
  /// hide or replace it: one that is under way, or a removal of many keys.
  private var saved: [Key: Revision] = [:]

  /// Whether a removal of many keys is under way or has failed.
  private var hasRemoval: Bool { underWayOfMany > 0 || removal != nil }

  /// Notes that a change is under way, unless its key does not equal itself.
  ///
  /// - Parameter key: The key; nil for a change of many keys.
  mutating func begin(_ key: Key?) {
    guard let key else { return underWayOfMany += 1 }
    if key == key { underWay[key, default: 0] += 1 }
  }

  /// Ends what ``begin(_:)`` began.
  mutating func end(_ key: Key?) -> Gone {
    guard let key else {
      underWayOfMany -= 1
      return forgetSaved()
    }
    guard let place = underWay.index(forKey: key) else { return Gone() }
    underWay.values[place] -= 1
    if underWay.values[place] > 0 { return Gone() }
    var gone = Gone(keys: [underWay.remove(at: place).key])
    if !hasRemoval, let place = saved.index(forKey: key) {
      gone.keys.append(saved.remove(at: place).key)
    }
    return gone
  }

  /// Forgets the saved changes that no removal of many keys can hide any more.
  private mutating func forgetSaved() -> Gone {
    if hasRemoval || saved.isEmpty { return Gone() }
    let former = saved
    saved = former.filter { underWay[$0.key] != nil }
    return Gone(saved: former)
  }

  var count: Int { failures.count }

  var isEmpty: Bool { failures.isEmpty && removal == nil && !isOfAll }

  /// Whether a value of the key that is stored may be one that is removed or replaced.
  func hides(_ key: Key) -> Bool {
    if failures[key]?.hasRemains == true { return true }
    guard let removal else { return false }
    return (saved[key] ?? .none) <= removal
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
  ///   - limit: The greatest number of keys that are noted as saved since a removal began; a further
  ///     one is hidden if that fails, until it succeeds, and is fetched.
  mutating func saved<Value>(_ change: Change<Key, Value>, limit: Int) -> Gone? {
    switch change {
    case .set(let key, _, let revision): return saved(key, revision, limit)
    case .fill(let key, _, let token): return saved(key, min(token.revision, .present), limit)
    case .remove(let key, let revision): return saved(key, revision, limit)
    case .removeMatching: return nil
    case .removeAll(let revision):
      var gone = forgetAll { $0.revision <= revision }
      if let removal, removal <= revision {
        self.removal = nil
        gone.saved = forgetSaved().saved
      }
      return gone
    }
  }

  private mutating func saved(_ key: Key, _ revision: Revision, _ limit: Int) -> Gone? {
    let isNoted = saved[key] != nil
    if isNoted || underWay[key] != nil || hasRemoval && saved.count < limit {
      saved[key] = max(saved[key] ?? .none, revision)
    }
    return forget(key, upTo: revision)
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
    if let saved = saved[key], saved > revision { return }
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
