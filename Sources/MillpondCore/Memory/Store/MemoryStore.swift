/// The entries of a memory cache, or of one of its shards.
///
/// Pure; its owner locks, and releases dropped values after the unlock: it is used under one lock,
/// with all the memory of its columns and slab.
@usableFromInline
@frozen
struct MemoryStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  // The properties that a hit uses come first, side by side.
  @usableFromInline var index = SlotIndex()

  /// The slab's pairs, so that a hit does not go through the slab.
  @usableFromInline nonisolated(unsafe) var pairs: UnsafeMutablePointer<MemorySlab<Key, Value>.Pair>

  @usableFromInline var statistics = MemoryStatistics()
  @usableFromInline var order: PolicyOrder
  @usableFromInline let budget: MemoryBudget
  @usableFromInline var slab = MemorySlab<Key, Value>()
  @usableFromInline var times: MemoryExpiry
  @usableFromInline var validators: [Slot: Validator] = [:]

  /// The reloads whose answers are stored, by their tokens: answers to older gets come too late.
  @usableFromInline var reloads: [Slot: Revision] = [:]

  /// The number of operations in steps that are under way; meanwhile entries keep their slots.
  @usableFromInline var walks = 0

  @usableFromInline var sweepHand: Slot = 0
  @usableFromInline var writes = WriteOrder<Key>()

  /// The expected number of entries, if keys are spread evenly over the shards.
  @usableFromInline var expectedCount: Int

  @inlinable
  init(_ budget: MemoryBudget, _ options: MemoryOptions, expectedCount: Int) {
    self.budget = budget
    pairs = slab.pairs
    times = MemoryExpiry(timeToIdle: options.timeToIdle)
    order = PolicyOrder(options.policy, isWeighted: options.isWeighted)
    self.expectedCount = expectedCount
  }

  @inlinable
  var count: Int {
    index.count
  }

  // MARK: Lookups

  /// Returns the value, and counts this as a use.
  ///
  /// For stores without expiry.
  @inlinable
  mutating func hit(_ key: Key, _ hash: MemoryHash, _ counting: Counting) -> Value? {
    guard let slot = Self.find(key, hash, index.places, index.buckets.count, pairs) else {
      if counting == .everything { miss(hash) }
      return nil
    }
    statistics.hits &+= 1
    order.used(slot, hash.bits)
    return pairs[Int(slot)].value
  }

  /// Returns the value if it is no older than `age`, and counts this as a use; a miss is not
  /// counted.
  ///
  /// For stores without expiry.
  @inlinable
  mutating func hit(
    _ key: Key, _ hash: MemoryHash, atMost age: Duration, _ now: Int64
  ) -> Value? {
    guard let slot = Self.find(key, hash, index.places, index.buckets.count, pairs),
      times.age(of: slot, now) <= age
    else { return nil }
    statistics.hits &+= 1
    order.used(slot, hash.bits)
    return pairs[Int(slot)].value
  }

  /// Returns the value if it is fresh enough; this counts as a use if `counting` says so.
  @inlinable
  mutating func look(
    _ key: Key, _ hash: MemoryHash, _ freshness: Freshness, _ counting: Counting,
    _ move: inout MemoryMove<Key, Value>
  ) -> Stamped<Value>? {
    let now = move.now
    guard let slot = find(key, hash), !dropIfExpired(slot, &move) else {
      if counting == .everything { miss(hash) }
      return nil
    }
    guard freshness.admits(age: times.age(of: slot, now)) else {
      if case .everything = counting { statistics.misses &+= 1 }
      return nil
    }
    if counting.countsUse {
      statistics.hits &+= 1
      order.used(slot, hash.bits)
      times.touch(slot, now)
    } else if counting == .takenBack {
      statistics.hits &-= 1
    }
    return stamped(slot, now)
  }

  /// Counts a miss of a key without an entry.
  @inlinable
  mutating func miss(_ hash: MemoryHash) {
    statistics.misses &+= 1
    order.missed(hash.bits)
  }

  /// Returns the value with its age, without counting this as a use.
  @inlinable
  func peek(_ key: Key, _ hash: MemoryHash, _ now: Int64) -> Stamped<Value>? {
    guard let slot = find(key, hash), !times.isExpired(slot, now) else { return nil }
    return stamped(slot, now)
  }

  /// Returns the value of any age if it has a validator, without counting this as a use.
  func peekStale(_ key: Key, _ hash: MemoryHash, _ now: Int64) -> Stamped<Value>? {
    guard let slot = find(key, hash), isConfirmable(slot, now) else { return nil }
    return stamped(slot, now)
  }

  /// Returns the value of a slot with its age.
  ///
  /// Always inlined, since a call would copy the whole store.
  @inlinable
  @inline(__always)
  func stamped(_ slot: Slot, _ now: Int64) -> Stamped<Value> {
    Stamped(
      pairs[Int(slot)].value, nanoseconds: times.nanoseconds(of: slot, now),
      rest: times.rest(of: slot, now), validator: validators.isEmpty ? nil : validators[slot])
  }

  /// Whether an origin may confirm the value, also one that has expired.
  @usableFromInline
  func isConfirmable(_ slot: Slot, _ now: Int64) -> Bool {
    validators[slot] != nil && !times.isIdle(slot, now)
  }

  @inlinable
  func find(_ key: Key, _ hash: MemoryHash) -> Slot? {
    Self.find(key, hash, index.places, index.buckets.count, pairs)
  }

  /// Finds a slot; static, since a method would copy the whole store on the way to a hit.
  @inlinable
  static func find(
    _ key: Key, _ hash: MemoryHash, _ buckets: UnsafePointer<UInt64>, _ bucketCount: Int,
    _ pairs: UnsafePointer<MemorySlab<Key, Value>.Pair>
  ) -> Slot? {
    SlotIndex.find(hash.bits, in: buckets, bucketCount) { pairs[Int($0)].key == key }
  }

  // MARK: Writing

  /// Stores a value, unless a later write of its key has arrived, or it has to be compared with a
  /// later removal by predicate first.
  @inlinable
  mutating func set(
    _ key: Key, _ hash: MemoryHash, _ value: Value, _ validator: Validator?,
    _ details: MemoryDetails, compared: Int = 0, _ move: inout MemoryMove<Key, Value>
  ) -> Placing {
    let slot = Self.find(key, hash, index.places, index.buckets.count, pairs)
    var present = Revision.none
    if let slot { present = times.stamps[slot].revision }
    guard
      writes.admit(key, hash: hash.whole, details.revision, over: present, compared: compared)
    else { return .refused }
    if !reloads.isEmpty, let slot { reloads[slot] = nil }
    return put(key, hash, value, validator, details, in: slot, &move)
  }

  /// Stores the value of a fill, unless its key was written after the token was taken; a renewal
  /// gives the stored value new times, if there is one.
  @inlinable
  mutating func fill(
    _ key: Key, _ hash: MemoryHash, _ value: Value, _ validator: Validator?,
    _ details: MemoryDetails, _ token: FillToken, compared: Int = 0,
    _ move: inout MemoryMove<Key, Value>
  ) -> Placing {
    let slot = find(key, hash)
    if !reloads.isEmpty, let slot, let newer = reloads[slot], token.revision < newer {
      return .refused
    }
    if token.isRenewal {
      // It never inserts: a removal may have gone through this layer, and not through the others.
      // Admitted only if it changes something, since a reload that is admitted refuses older gets.
      guard let slot, canRenew(slot, validator, details, move.now),
        writes.admit(token, hash: hash.whole, compared: compared, refusesOlder: false)
      else { return .refused }
      renew(slot, details, move.now)
      if token.isReload { refuseOlder(than: token, key, hash) }
      return .kept
    }
    guard writes.admit(token, hash: hash.whole, compared: compared, refusesOlder: false) else {
      return .refused
    }
    var details = details
    // The last write of the key stays the same: that of its entry, or the last removal of
    // everything.
    details.revision = slot.map { times.stamps[$0].revision } ?? writes.removalOfAll
    let placing = put(key, hash, value, validator, details, in: slot, &move)
    if token.isReload { refuseOlder(than: token, key, hash) }
    return placing
  }

  /// Refuses the answers to gets of a key that are older than a reload.
  @usableFromInline
  mutating func refuseOlder(than reload: FillToken, _ key: Key, _ hash: MemoryHash) {
    if let slot = find(key, hash) {
      reloads[slot] = reload.revision
    } else {
      writes.refuseFills(hash.whole, olderThan: reload.revision)
    }
  }

  /// Goes on refusing them when the entry goes, to be safe also those of some other keys.
  @usableFromInline
  mutating func dropReload(of slot: Slot, _ key: Key) {
    guard let reload = reloads.removeValue(forKey: slot) else { return }
    writes.refuseFills(key.mixedHash, olderThan: reload)
  }

  /// Whether a value is stored that may be older than an answer that was just refused.
  @usableFromInline
  func mayBeOutdated(_ key: Key, _ hash: MemoryHash, _ token: FillToken) -> Bool {
    guard writes.leavesOutdated(token, hash: hash.whole), let slot = find(key, hash) else {
      return false
    }
    return (reloads[slot] ?? .none) < token.revision
  }

  /// Removes a key; returns false, without an effect, if it was written later.
  @inlinable
  @discardableResult
  mutating func remove(
    _ key: Key, _ hash: MemoryHash, _ revision: Revision, _ move: inout MemoryMove<Key, Value>
  ) -> Bool {
    let slot = find(key, hash)
    let present = slot.map { times.stamps[$0].revision } ?? .none
    guard writes.admit(key, hash: hash.whole, revision, over: present) else { return false }
    writes.remember(key, revision)
    move.removals.append(writes.takeForgotten())
    guard let slot else { return true }
    drop(slot, .removed, &move)
    budget.takeBack(&move.room)
    if order.isSparse { shrink() }
    return true
  }

  /// Removes everything that was written before `revision`, in steps; values filled between the
  /// steps stay.
  ///
  /// - Returns: Whether another step is needed.
  @inlinable
  mutating func removeAll(
    _ revision: Revision, _ progress: inout StoreProgress, atMost stepSize: Int,
    _ move: inout MemoryMove<Key, Value>
  ) -> Bool {
    // A removal that a later one has overtaken continues: the later one may not have ended yet.
    if progress.place == 0, writes.admitAll(revision) {
      move.removals.append(writes.takeForgotten())
    }
    let end = min(progress.place + stepSize, slab.isUsed.count)
    for slot in progress.place..<max(progress.place, end) where slab.isUsed[slot] {
      if times.stamps[slot].revision < revision { drop(Slot(slot), .removed, &move) }
    }
    progress.place += stepSize
    return progress.place < slab.isUsed.count
  }
}

/// The result of an attempt to put a value into a store.
@usableFromInline
enum Placing: Sendable {
  case kept

  /// A later write has arrived, or the value can't be stored at all.
  case refused

  /// There is no room, and no entry of this store can be evicted.
  case crowded
}

/// The room that a call has made and not used yet, and its removals.
@usableFromInline
@frozen
struct MemoryMove<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var room = MemorySpace()
  @usableFromInline var removals = Removals<Key, Value>()
  @usableFromInline let now: Int64

  @inlinable
  init(_ now: Int64) {
    self.now = now
  }
}

/// The progress of an operation in steps with one store.
@usableFromInline
@frozen
struct StoreProgress {
  /// The next place to examine, or the number of entries that may still be dropped.
  @usableFromInline var place = 0

  /// The count and cost that may be left at the end; nil before the first step.
  @usableFromInline var limits: (count: Int, cost: Int)?

  /// Whether the store counts the operation among its walks.
  @usableFromInline var isBegun: Bool

  @inlinable
  init(isBegun: Bool = false) {
    self.isBegun = isBegun
  }
}
