public import MillpondSignals
public import Synchronization

/// The latest removals by predicate of a store, with which writes and fills that arrive late are
/// compared, since users' predicates must not be called under the store's lock.
///
/// A removal is added here, then noted in the store's ``WriteOrder`` by its number, and then
/// carried out. A write or fill is compared without the lock, and admitted under it by the number
/// of the last removal with which it was compared. If another removal was noted meanwhile, it is
/// compared again.
///
/// Removals are kept while an earlier write is on its way, up to 256; the latest eight are kept in any
/// case, for fills of gets that began before. Beyond that a fill is refused if its get is as old,
/// and a write may be admitted that should have been refused, but none is lost.
public final class RemovalsByPredicate<Key: Sendable>: Sendable {
  fileprivate struct Entry: Sendable {
    let predicate: KeyPredicate<Key>
    let revision: Revision

    /// The time of its arrival; gets that began before may have an older value.
    let arrival: Revision
  }

  fileprivate struct State: Sendable {
    var removals: [Entry] = []

    /// The number of removals that were added.
    var count = 0

    /// The latest arrival of a removal that has been forgotten.
    var forgotten = Revision.none
  }

  private let state = Locked(State())

  /// The latest arrival of all removals.
  @usableFromInline let latest = AtomicValue<UInt64>(0)

  /// Creates a record without removals.
  public init() {}

  /// Adds a removal that arrives now.
  ///
  /// - Parameters:
  ///   - predicate: The keys that are removed.
  ///   - revision: The place of the removal in the order of all writes.
  /// - Returns: Its arrival and its number, to be noted in the store's order before any key is
  ///   removed.
  public func add(
    _ predicate: KeyPredicate<Key>, _ revision: Revision
  ) -> (arrival: Revision, number: Int) {
    let oldest = PendingWrite.oldest
    let (place, former) = state.withLock { state in
      // A get whose token is later than the arrival finds the greatest number, and waits for the lock.
      let last = latest.exchange(.max, ordering: .sequentiallyConsistent)
      let (arrival, former) = (max(revision, Revision.present), state.removals)
      state.add(Entry(predicate: predicate, revision: revision, arrival: arrival), oldest)
      latest.store(max(last, arrival.number), ordering: .releasing)
      return ((arrival, state.count), former)
    }
    withExtendedLifetime(former) {}  // released here, not under the lock
    return place
  }

  /// Forgets the removals that a removal of everything has overtaken, after it has arrived.
  ///
  /// - Parameter revision: The place of the removal of everything in the order of all writes.
  public func forget(upTo revision: Revision) {
    if latest.load(ordering: .acquiring) == 0 { return }
    state.discard { state in
      let former = state.removals
      state.removals = former.filter { $0.revision > revision }
      return former
    }
  }

  /// Forgets the removals that no pending write precedes, at the end of a store: until another one
  /// takes over the rest, nothing of users is kept without need.
  package func forgetUnneeded() {
    let oldest = PendingWrite.oldest
    state.discard { state in
      let former = state.removals
      state.removals = former.filter { $0.revision > oldest }
      state.forgotten = former.reduce(state.forgotten) { max($0, $1.arrival) }
      return former
    }
  }

  /// Takes over the removals of the store that held the same values before, while nothing else uses
  /// this one.
  package func takeOver(from earlier: RemovalsByPredicate) {
    let removals = earlier.state.withLock { $0 }
    state.withLock { $0 = removals }
    latest.store(earlier.latest.load(ordering: .acquiring), ordering: .releasing)
  }

  /// Compares a write of `key` with the later removals; calls users' predicates.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - revision: The place of the write in the order of all writes.
  /// - Returns: The number of the last removal with which it was compared; nil if one of them
  ///   concerns the key, so that the write is refused.
  @inlinable
  public func compare(_ key: Key, _ revision: Revision) -> Int? {
    revision.number >= latest.load(ordering: .acquiring) ? 0 : compareLate(key, revision)
  }

  /// Compares a fill of `key` with the removals since its token was taken; calls users' predicates.
  ///
  /// - Returns: The number of the last removal with which it was compared; nil if the fill is
  ///   refused.
  @inlinable
  public func compare(_ key: Key, _ token: FillToken) -> Int? {
    token.revision.number > latest.load(ordering: .acquiring) ? 0 : compareLate(key, token)
  }

  @usableFromInline
  func compareLate(_ key: Key, _ revision: Revision) -> Int? {
    let state = state.withLock { $0 }
    // The layer below knows whether one that is forgotten here concerns the key.
    if revision.isOfCopy, revision <= state.forgotten { return nil }
    let isRemoved = state.removals.contains {
      $0.revision > revision && $0.predicate.isSatisfied(by: key)
    }
    return isRemoved ? nil : state.count
  }

  @usableFromInline
  func compareLate(_ key: Key, _ token: FillToken) -> Int? {
    let state = state.withLock { $0 }
    if token.revision <= state.forgotten { return nil }
    let isRemoved = state.removals.contains {
      token.revision <= $0.arrival && $0.predicate.isSatisfied(by: key)
    }
    return isRemoved ? nil : state.count
  }
}

extension RemovalsByPredicate.State {
  /// Adds a removal, and forgets those that are not needed any more.
  ///
  /// - Parameters:
  ///   - removal: The removal.
  ///   - oldest: The oldest pending write.
  fileprivate mutating func add(_ removal: RemovalsByPredicate.Entry, _ oldest: Revision) {
    count += 1
    removals.append(removal)
    let surplus = removals.dropLast(8).enumerated().filter { place, removal in
      removal.revision < oldest || place < removals.count - 256
    }
    if surplus.isEmpty { return }
    forgotten = surplus.reduce(forgotten) { max($0, $1.element.arrival) }
    let places = Set(surplus.map(\.offset))
    removals = removals.enumerated().filter { !places.contains($0.offset) }.map(\.element)
  }
}
