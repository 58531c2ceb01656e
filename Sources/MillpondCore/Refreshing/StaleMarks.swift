import MillpondSignals
public import Synchronization

/// The marks of values that count as stale whatever their age, of single keys or of all.
struct StaleMarks<Key: Hashable & Sendable>: Sendable {
  /// A mark, and the moment at which it was made.
  private struct Mark: Sendable {
    let revision: Revision
    let time: Duration
  }

  /// Dropped keys, to be released after the unlock.
  typealias Gone = (keys: [Key], renewed: Set<Key>)

  /// The greatest delay of a store's clock behind that of the marks.
  private let lag: Duration

  /// The greatest number of keys with marks of their own; beyond it, all keys are marked.
  private let limit: Int

  private var all: Mark?

  /// Whether values from before the mark of all keys are stale by their ages as well, so that it
  /// holds only for fetches that began before it.
  private var isAllOutlived = false

  /// The keys that got a new value so soon after the mark of all keys that its age does not show
  /// that it is newer.
  private var renewed: Set<Key> = []
  private var byKey: [Key: Mark] = [:]

  init(lag: Duration, limit: Int = 4_096) {
    self.lag = lag
    self.limit = limit
  }

  var isEmpty: Bool { all == nil && byKey.isEmpty }

  /// The rule for stored values.
  var rule: MarkRule {
    if !byKey.isEmpty || !renewed.isEmpty { return .byKey }
    return all.flatMap { isAllOutlived ? nil : .since($0.time) } ?? .none
  }

  /// Marks every value stored until now.
  mutating func markAll(_ revision: Revision, at now: Duration) -> Gone {
    defer {
      all = Mark(revision: revision, time: now)
      (byKey, renewed, isAllOutlived) = ([:], [], false)
    }
    return (Array(byKey.keys), renewed)
  }

  /// Marks the value stored until now for a key.
  mutating func mark(_ key: Key, _ revision: Revision, at now: Duration) -> Gone {
    if byKey.count >= limit, byKey[key] == nil { return markAll(revision, at: now) }
    byKey[key] = Mark(revision: revision, time: now)
    return ([], [])
  }

  /// Drops the mark of a key that got a value, if that is newer.
  ///
  /// - Parameter age: The age of a value that was stored before, perhaps here; nil for a new one.
  ///
  /// A value of a fetch that began before the mark of all keys gets a mark of its own, since its
  /// age does not show that.
  mutating func renew(_ key: Key, asked: Revision, age: Duration?, at now: Duration) -> Gone {
    var gone: [Key] = []
    if let place = byKey.index(forKey: key), isNewer(asked, age, than: byKey.values[place], at: now)
    {
      gone = [byKey.remove(at: place).key]
    }
    guard let all else { return (gone, []) }
    if asked < all.revision, byKey[key] == nil {
      // At the limit, the mark of all keys moves forward: it then covers all marks that it replaces,
      // but no fetch that began after them.
      if byKey.count >= limit {
        return markAll(byKey.values.map(\.revision).max() ?? all.revision, at: now)
      }
      return mark(key, all.revision, at: all.time)
    }
    if asked > all.revision, age == nil, !isAllOutlived, now - all.time <= lag * 2 {
      renewed.insert(key)
    }
    return (gone, [])
  }

  private func isNewer(
    _ asked: Revision, _ age: Duration?, than mark: Mark, at now: Duration
  ) -> Bool {
    asked > mark.revision && (age.map { now - mark.time - lag > $0 } ?? true)
  }

  func hasMark(_ key: Key, after asked: Revision) -> Bool {
    max(byKey[key]?.revision ?? .none, all?.revision ?? .none) > asked
  }

  func greatestUnmarkedAge(_ key: Key, at now: Duration) -> Duration? {
    if byKey[key] != nil { return .nanoseconds(-1) }
    guard let all, !isAllOutlived, !renewed.contains(key) else { return nil }
    return Self.greatestUnmarkedAge(since: all.time, at: now, lag: lag)
  }

  /// Returns the greatest age of a value that is certainly newer than a mark made at `time`.
  static func greatestUnmarkedAge(
    since time: Duration, at now: Duration, lag: Duration
  ) -> Duration {
    // A step back of the clock expires nothing more.
    now < time ? .zero : now - time - lag - .nanoseconds(1)
  }

  /// Drops the mark of all keys for stored values if older ones exceed the greatest age of a fresh
  /// one by now.
  mutating func outlive(_ greatestAge: Duration?, at now: Duration) -> Gone {
    guard let all, let greatestAge, now - all.time - lag > greatestAge else { return ([], []) }
    defer { (renewed, isAllOutlived) = ([], true) }
    return ([], renewed)
  }
}

/// A rule that says whether a stored value is marked, in one word for hits that take no lock: the time
/// in nanoseconds of a mark of all keys, which is compared with the value's age, or one of these.
@usableFromInline
@frozen
struct MarkRule: RawRepresentable, AtomicRepresentable, Sendable {
  @usableFromInline let rawValue: Int64

  @inlinable
  init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// No value is marked.
  @inlinable static var none: MarkRule { MarkRule(rawValue: .min) }

  /// The marks have to be asked about the key.
  static var byKey: MarkRule { MarkRule(rawValue: .max) }

  static func since(_ time: Duration) -> MarkRule { MarkRule(rawValue: Int64(time.nanoseconds)) }
}
