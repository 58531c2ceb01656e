/// The order of the writes that reach a store, which decides whether a write or a fill is admitted.
///
/// - A later write of a key wins over an earlier one, whatever arrives first. A write is refused
///   only because of a later write of the same key.
/// - A fill is refused if a write of its key was admitted after its ``FillToken`` was taken, or if
///   its get is over. Keys share stripes, so a fill is sometimes refused because of writes of
///   other keys, which costs a later miss: it leaves no value that its answer should have replaced.
/// - A layer above another store has copies. If it can't tell whether another change of the key has
///   come between the one below and its own, it drops the copy, so that no layer is older than the
///   one below it.
///
/// A store that keeps the revision of a write beside its value calls
/// ``admit(_:_:over:compared:)`` for a write, and ``remember(_:_:)`` when the entry goes. A store
/// that keeps no revisions calls ``admit(_:_:compared:)``. A remembered write is forgotten only if
/// no earlier write is on its way; the newest 1,024 are kept in any case, for writes about to arrive.
/// Beyond 262,144 the oldest are forgotten regardless: then a write may be admitted that should
/// have been refused, but none is lost. They are forgotten 1,024 at a time, so that no write takes
/// longer than that.
///
/// A store that supports removals by predicate compares its sets and fills by ``RemovalsByPredicate``.
///
/// This type does not lock: its owner does, and releases the result of ``takeForgotten()`` after
/// the unlock.
@frozen
public struct WriteOrder<Key: Hashable & Sendable>: Sendable {
  /// The last arrivals of writes, for each stripe of keys; and of a write to all keys.
  @usableFromInline var arrivals: [ArrivalStripe] = []
  @usableFromInline var arrivalOfAll = Revision.none

  /// The last writes of keys without an entry in the store.
  @usableFromInline var remembered = RememberedWrites<Key>()
  @usableFromInline package private(set) var removalOfAll = Revision.none

  /// A revision that is at least as late as every remembered one.
  @usableFromInline var newest = Revision.none

  /// The latest revision and arrival, and the number, of the removals by predicate.
  @usableFromInline var removal = (revision: Revision.none, arrival: Revision.none, number: 0)
  @usableFromInline var forgotten: [[Key: Revision]] = []

  /// Creates the order of a store without writes.
  @inlinable
  public init() {}

  // MARK: Writes

  /// Decides whether a write of `key` is admitted, and remembers it if it is.
  ///
  /// For stores that keep no revisions.
  ///
  /// - Parameters:
  ///   - key: The key of the write.
  ///   - revision: The revision of the write.
  ///   - compared: For a set, the number that the comparison with ``RemovalsByPredicate`` gave.
  @inlinable
  public mutating func admit(_ key: Key, _ revision: Revision, compared: Int = .max) -> Bool {
    // It remembers the last writes, and need not be in doubt about any.
    let revision = revision.isOfCopy ? revision.unmarked : revision
    guard admit(key, revision, over: .none, compared: compared) else { return false }
    remember(key, revision)
    return true
  }

  /// Decides whether a write of `key` is admitted by a store that keeps revisions.
  ///
  /// Also false for the set of a value that the layer below was given before (see ``Layered``), if
  /// the store can't tell whether a later change of the key came in between. So a store removes the
  /// key, with the revision of the set, if the set is not admitted.
  ///
  /// - Parameters:
  ///   - key: The key of the write.
  ///   - revision: The revision of the write.
  ///   - present: The last write of the key's entry; ``Revision/none`` if there is no entry, or if
  ///     it was only ever filled.
  ///   - compared: For a set, the number that the comparison with ``RemovalsByPredicate`` gave.
  @inlinable
  public mutating func admit(
    _ key: Key, _ revision: Revision, over present: Revision, compared: Int = .max
  ) -> Bool {
    admit(key, hash: key.mixedHash, revision, over: present, compared: compared)
  }

  @inlinable
  package mutating func admit(
    _ key: Key, hash: Int, _ revision: Revision, over present: Revision, compared: Int = .max
  ) -> Bool {
    // Most writes are later than all remembered ones.
    guard revision >= present, revision >= newest || isLast(of: key, revision, compared) else {
      // The later write has already refused the fills that this one would refuse.
      return false
    }
    if revision.number & Revision.markBits != 0 {
      if revision.isOfAnswer {
        refuseFills(hash, olderThan: revision)
        return true
      }
      if isInDoubt(hash, revision, over: present) { return false }
    }
    if arrivals.isEmpty { makeStripes() }
    // Later than every token taken so far, however long the write was under way.
    arrivals[hash & (Self.stripeCount - 1)].arrive(hash, .present, revision)
    return true
  }

  /// Whether a change of the key may have come between the arrivals of a set in the layer below and
  /// here, without being known here any more.
  @usableFromInline
  func isInDoubt(_ hash: Int, _ revision: Revision, over present: Revision) -> Bool {
    if arrivals.isEmpty { return false }
    let stripe = arrivals[hash & (Self.stripeCount - 1)]
    // An entry that was written since the last removal of everything has all later writes.
    let mayMiss = present <= removalOfAll && stripe.lastWrite(of: hash) > revision
    return mayMiss || stripe.fill > revision
  }

  /// Decides whether a write of all keys is admitted; false if a later one has arrived.
  ///
  /// - Parameter revision: The place of the write in the order of all writes.
  @inlinable
  public mutating func admitAll(_ revision: Revision) -> Bool {
    guard revision >= removalOfAll else { return false }
    arrivalOfAll = .present
    removalOfAll = revision
    newest = max(newest, revision)
    forgotten += remembered.forget(upTo: revision)
    return true
  }

  /// Notes a removal by predicate: earlier sets and fills have to be compared with it from now on.
  ///
  /// - Parameters:
  ///   - revision: The place of the removal in the order of all writes.
  ///   - place: The arrival and the number that ``RemovalsByPredicate`` gave it.
  @inlinable
  public mutating func noteRemoval(
    _ revision: Revision, _ place: (arrival: Revision, number: Int)
  ) {
    removal = (
      max(removal.revision, revision), max(removal.arrival, place.arrival),
      max(removal.number, place.number)
    )
    newest = max(newest, revision)
  }

  /// Whether a set has to be compared with a removal by predicate before it is admitted.
  ///
  /// - Parameters:
  ///   - revision: The place of the set in the order of all writes.
  ///   - compared: The number of the last removal with which it was compared.
  @inlinable
  public func mustCompare(_ revision: Revision, compared: Int) -> Bool {
    revision < removal.revision && compared < removal.number
  }

  /// Whether a fill has to be compared with a removal by predicate before it is admitted.
  ///
  /// - Parameters:
  ///   - token: The token of the fill.
  ///   - compared: The number of the last removal with which it was compared.
  @inlinable
  public func mustCompare(_ token: FillToken, compared: Int) -> Bool {
    token.revision <= removal.arrival && compared < removal.number
  }

  @usableFromInline
  func isLast(of key: Key, _ revision: Revision, _ compared: Int) -> Bool {
    revision >= lastWrite(of: key) && !mustCompare(revision, compared: compared)
  }

  /// Remembers the last write of a key whose entry is removed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - revision: The place of its last write in the order of all writes.
  /// - Complexity: O(1); once in 1,024 writes, as many are forgotten.
  @inlinable
  public mutating func remember(_ key: Key, _ revision: Revision) {
    if revision.isOfAnswer { return }
    remembered.add(key, revision)
    newest = max(newest, revision)
    if remembered.isFull { prune(before: PendingWrite.oldest) }
  }

  // MARK: Fills

  /// Decides whether a fill of `key` is admitted.
  ///
  /// - Parameters:
  ///   - token: The token of the fill.
  ///   - key: The key of the fill.
  ///   - compared: The number that the comparison with ``RemovalsByPredicate`` gave.
  @inlinable
  public mutating func admit(_ token: FillToken, for key: Key, compared: Int = .max) -> Bool {
    admit(token, hash: key.mixedHash, compared: compared)
  }

  /// Decides whether a fill of `key` is admitted by a store that keeps the last write of each
  /// entry, and takes the revisions of its own writes as they arrive.
  ///
  /// For stores in which a refused fill is no answer. Their own writes need not be admitted here,
  /// and refuse no fills of other keys until they are forgotten. Writes that were pending can
  /// refuse such fills, as everywhere.
  ///
  /// - Parameters:
  ///   - token: The token of the fill.
  ///   - key: The key of the fill.
  ///   - present: The last write of the entry; ``Revision/none`` if there is no entry, or if it was
  ///     only ever filled.
  @inlinable
  package mutating func admit(_ token: FillToken, for key: Key, over present: Revision) -> Bool {
    guard token.revision > present,
      token.revision > newest || token.revision > lastWrite(of: key)
    else { return false }
    return admit(token, for: key)
  }

  /// Decides whether a fill of a key with this hash is admitted.
  ///
  /// - Parameters:
  ///   - token: The token of the fill.
  ///   - hash: The hash of the key.
  ///   - compared: The number that the comparison with ``RemovalsByPredicate`` gave.
  ///   - refusesOlder: Whether the answers to gets that are older than a reload are refused here, to
  ///     be safe also those of some other keys.
  @inlinable
  package mutating func admit(
    _ token: FillToken, hash: Int, compared: Int = .max, refusesOlder: Bool = true
  ) -> Bool {
    let stripe = hash & (Self.stripeCount - 1)
    let arrival =
      arrivals.isEmpty ? arrivalOfAll : max(arrivalOfAll, arrivals[stripe].latest(of: hash))
    guard token.revision > arrival, !mustCompare(token, compared: compared), !token.isEnded else {
      return false
    }
    if token.isReload, refusesOlder { refuseFills(hash, olderThan: token.revision) }
    if token.isOfCopy {
      if arrivals.isEmpty { makeStripes() }
      arrivals[stripe].fill = max(arrivals[stripe].fill, token.revision)
    }
    return true
  }

  /// Whether a fill that was just refused may leave an older value in the store, unless that is of a
  /// later write: the fill was refused to be safe, or the layer below may have admitted it.
  ///
  /// Then the store removes the key, in place of the answer (``Revision/ofAnswer``).
  @usableFromInline
  package func leavesOutdated(_ token: FillToken, hash: Int) -> Bool {
    guard token.isReload || token.isOfCopy, !token.isRenewal, !token.isEnded,
      token.revision > .none, !arrivals.isEmpty
    else { return false }
    let stripe = arrivals[hash & (Self.stripeCount - 1)]
    // A removal that has refused the fill has left no older value.
    if stripe.hash != hash { return stripe.former >= token.revision }
    // The stored value is that of a write, which has refused the fill, or of a newer reload.
    return token.isOfCopy && !stripe.last.isOfAnswer
  }

  package func leavesOutdated(_ token: FillToken, for key: Key) -> Bool {
    leavesOutdated(token, hash: key.mixedHash)
  }

  /// Refuses the fills of gets of `key` that have begun: another process has written it.
  package mutating func refuseFills(of key: Key) {
    refuseFills(key.mixedHash, until: .present, .none)
  }

  /// Refuses the fills of all gets that have begun: other processes may have written any key.
  package mutating func refuseAllFills() {
    arrivalOfAll = .present
  }

  /// Refuses the answers to gets that are older than a reload.
  @inlinable
  mutating func refuseFills(_ hash: Int, olderThan reload: Revision) {
    refuseFills(hash, until: reload.unmarked.predecessor.ofAnswer, .none)
  }

  @inlinable
  mutating func refuseFills(_ hash: Int, until time: Revision, _ revision: Revision) {
    if arrivals.isEmpty { makeStripes() }
    arrivals[hash & (Self.stripeCount - 1)].arrive(hash, time, revision)
  }

  @usableFromInline
  mutating func makeStripes() {
    arrivals = Array(repeating: ArrivalStripe(), count: Self.stripeCount)
  }

  // MARK: Forgetting

  /// Forgets the last write of a key whose entry goes by itself, unless an earlier write may be
  /// pending; its stripe still refuses older fills.
  @inlinable
  package mutating func forget(_ key: Key, _ revision: Revision) {
    if PendingWrite.isAny(before: revision) {
      remember(key, revision)
    } else {
      refuseFills(key.mixedHash, until: revision, revision)
    }
  }

  /// Returns the keys forgotten since the last call, to be released after the owner's unlock.
  @inlinable
  public mutating func takeForgotten() -> [[Key: Revision]] {
    if forgotten.isEmpty { return [] }
    defer { forgotten = [] }
    return forgotten
  }

  @usableFromInline
  package func lastWrite(of key: Key) -> Revision {
    max(removalOfAll, remembered.last(of: key))
  }

  /// Makes `former` the last write of a key again, if `revision` still is, since that has stored
  /// nothing.
  package mutating func takeBack(_ key: Key, _ revision: Revision, former: Revision) {
    remembered.replace(key, revision, by: former)
  }

  /// Forgets writes that are older than `oldest`, the oldest pending write.
  @inlinable
  mutating func prune(before oldest: Revision) {
    for writes in remembered.prune(before: oldest) {
      for (key, revision) in writes {
        refuseFills(key.mixedHash, until: revision, revision)
      }
      forgotten.append(writes)
    }
  }

  @inlinable static var stripeCount: Int { 256 }
}
