/// The order of the writes that reach a store: decides which of them, and which fills, are admitted.
///
/// - A later write of a key wins over an earlier one, whatever arrives first. A write is refused only
///   because of a later write of the same key.
/// - A fill is refused if a write of its key was admitted after its ``FillToken`` was drawn, or if the run
///   that asked is over. Many keys share a stripe, so now and then a fill is refused because of a write
///   of another key, which costs a later miss.
///
/// A store that keeps the revision of a write beside its value calls ``admit(_:_:over:)`` for a write,
/// and ``remember(_:_:)`` when the entry goes. One that keeps none calls ``admit(_:_:)``. What is
/// remembered is forgotten only if no ``PendingWrite`` is older; the newest 1,024 are kept in any case,
/// for writes that are about to arrive. Of more than 262,144 the older ones are forgotten all the same:
/// then a write may be admitted that should have been refused, but none is lost.
///
/// It does not lock: its owner does, and releases what ``takeForgotten()`` returns after the unlock.
public struct WriteOrder<Key: Hashable & Sendable>: Sendable {
  /// When a write last arrived, by stripes of keys, and one of all keys.
  @usableFromInline var arrivals: [Revision] = []
  @usableFromInline var arrivalOfAll = Revision.none

  /// The last writes of keys of which the store may keep nothing.
  @usableFromInline var remembered: [Key: Revision] = [:]
  @usableFromInline var removalOfAll = Revision.none

  /// No write that is remembered is later.
  @usableFromInline var newest = Revision.none
  @usableFromInline var pruningCount = 2 * rememberedCount
  @usableFromInline var forgotten: [[Key: Revision]] = []

  /// The order of a store that nothing was written to.
  @inlinable
  public init() {}

  // MARK: Writes

  /// Whether a write of `key` is admitted, and remembers it if it is.
  ///
  /// For stores that keep no revisions.
  @inlinable
  public mutating func admit(_ key: Key, _ revision: Revision) -> Bool {
    guard admit(key, revision, over: .none) else { return false }
    remember(key, revision)
    return true
  }

  /// Whether a write of `key` is admitted by a store that has an entry of the key.
  ///
  /// - Parameter present: The last write of the entry; ``Revision/none`` if there is no entry, or if
  ///   it was only ever filled.
  @inlinable
  public mutating func admit(
    _ key: Key, _ revision: Revision, over present: Revision
  ) -> Bool {
    admit(key, hash: key.mixedHash, revision, over: present)
  }

  @inlinable
  package mutating func admit(
    _ key: Key, hash: Int, _ revision: Revision, over present: Revision
  ) -> Bool {
    // Most writes are later than all that is remembered.
    guard revision >= present, revision >= newest || revision >= lastWrite(of: key) else {
      // The later one that has overtaken this has refused what is to be refused.
      return false
    }
    if arrivals.isEmpty { arrivals = Array(repeating: .none, count: Self.stripeCount) }
    // Later than every token that was drawn before, however long the write was on its way.
    arrivals[hash & (Self.stripeCount - 1)] = .present
    return true
  }

  /// Whether a write of all keys is admitted; false if a later one of that kind came before.
  @inlinable
  public mutating func admitAll(_ revision: Revision) -> Bool {
    guard revision >= removalOfAll else { return false }
    arrivalOfAll = .present
    removalOfAll = revision
    newest = max(newest, revision)
    if !remembered.isEmpty { forget { $0 <= revision } }
    return true
  }

  /// Remembers the last write of a key whose entry goes.
  ///
  /// - Complexity: O(1), amortised.
  @inlinable
  public mutating func remember(_ key: Key, _ revision: Revision) {
    remembered[key] = max(remembered[key] ?? .none, revision)
    newest = max(newest, revision)
    if remembered.count >= pruningCount { prune(before: PendingWrite.oldest) }
  }

  // MARK: Fills

  /// Whether a fill of `key` is admitted.
  @inlinable
  public mutating func admit(_ token: FillToken, for key: Key) -> Bool {
    admit(token, hash: key.mixedHash)
  }

  /// Whether a fill of `key` is admitted by a store that keeps with each entry when it was last
  /// written to, and draws the revisions of its own writes as they arrive.
  ///
  /// For stores in which a fill that is refused is no answer. Such writes need not be admitted, and
  /// refuse no fills of other keys until they are forgotten. Writes that were on their way may, as
  /// everywhere.
  ///
  /// - Parameter present: The last write of the entry; ``Revision/none`` if there is no entry, or if
  ///   it was only ever filled.
  @inlinable
  package mutating func admit(_ token: FillToken, for key: Key, over present: Revision) -> Bool {
    guard token.revision > max(present, lastWrite(of: key)) else { return false }
    return admit(token, for: key)
  }

  @inlinable
  package mutating func admit(_ token: FillToken, hash: Int) -> Bool {
    let stripe = hash & (Self.stripeCount - 1)
    let arrival = arrivals.isEmpty ? arrivalOfAll : max(arrivalOfAll, arrivals[stripe])
    guard token.revision > arrival, !token.isEnded else { return false }
    if token.isReload { refuseFills(until: Revision(number: token.revision.number - 1), stripe) }
    return true
  }

  @inlinable
  mutating func refuseFills(until revision: Revision, _ stripe: Int) {
    if arrivals.isEmpty { arrivals = Array(repeating: .none, count: Self.stripeCount) }
    arrivals[stripe] = max(arrivals[stripe], revision)
  }

  // MARK: Forgetting

  /// Forgets the last write of a key whose entry goes by itself, unless an earlier write may be on its
  /// way: for fills its stripe remembers it.
  @inlinable
  package mutating func forget(_ key: Key, _ revision: Revision) {
    if PendingWrite.isAny(before: revision) {
      remember(key, revision)
    } else {
      refuseFills(until: revision, key.mixedHash & (Self.stripeCount - 1))
    }
  }

  /// What has been forgotten since this was last called: keys, which are to be released when the
  /// owner's lock is free.
  @inlinable
  public mutating func takeForgotten() -> [[Key: Revision]] {
    if forgotten.isEmpty { return [] }
    defer { forgotten = [] }
    return forgotten
  }

  @usableFromInline
  package func lastWrite(of key: Key) -> Revision {
    max(removalOfAll, remembered[key] ?? .none)
  }

  /// Forgets what is older than all writes on their way, of which `oldest` is the oldest.
  @inlinable
  mutating func prune(before oldest: Revision) {
    let revisions = remembered.values.sorted(by: >)
    let needed = revisions.prefix { $0 > oldest }.count
    let kept = min(max(needed, Self.rememberedCount), Self.greatestCount / 2, revisions.count)
    let last = revisions[kept - 1]
    for (key, revision) in remembered where revision < last {
      refuseFills(until: revision, key.mixedHash & (Self.stripeCount - 1))
    }
    forget { $0 < last }
    pruningCount = 2 * max(Self.rememberedCount, kept)
  }

  @inlinable
  mutating func forget(_ isForgotten: (Revision) -> Bool) {
    // As a whole, since single keys would be released here.
    let kept = remembered.filter { !isForgotten($0.value) }
    forgotten.append(remembered)
    remembered = kept
  }

  @inlinable static var stripeCount: Int { 1_024 }
  @inlinable static var rememberedCount: Int { 1_024 }
  @inlinable static var greatestCount: Int { 262_144 }
}
