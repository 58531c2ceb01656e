extension MemoryStore {
  /// Puts a value into the store, in place of the one in `slot` if there is one.
  @inlinable
  mutating func put(
    _ key: Key, _ hash: MemoryHash, _ value: Value, _ validator: Validator?,
    _ details: MemoryDetails, in slot: Slot?, _ move: inout MemoryMove<Key, Value>
  ) -> Placing {
    if times.expires { sweep(&move) }
    // A key that does not equal itself, such as a NaN, would never be found again.
    guard
      details.cost <= budget.costLimit, budget.countLimit > 0, details.deadline > move.now,
      times.idleTime > 0, key == key
    else {
      reject(key, details, &move, slot)
      return .refused
    }
    if let slot, slab.isUsed[slot] {
      if exchange(slot, value, validator, details, &move) { return .kept }
      drop(slot, .replaced, &move)
    }
    var isWithoutContest = true
    while !budget.reserve(details.cost, from: &move.room) {
      if isWithoutContest, !order.admits(hash.bits, weight: details.cost) {
        reject(key, details, &move, nil)
        return .refused
      }
      isWithoutContest = false
      if !evict(for: order.isWeighted ? details.cost : 1, .evicted, &move) {
        // Its entry is gone until there is room.
        let revision = details.revision
        if PendingWrite.isAny(before: revision) { remember(key, revision, &move) }
        return .crowded
      }
    }
    add(key, hash, value, validator, details, move.now)
    if isWithoutContest { order.settle() }
    if times.expires, order.isSparse { shrink() }
    assert(occasionalFlaw() == nil, occasionalFlaw() ?? "")
    return .kept
  }

  /// Evicts the next victims; false if there are none.
  @inlinable
  mutating func evict(
    for weight: Int, _ cause: Removal<Key, Value>.Cause, _ move: inout MemoryMove<Key, Value>
  ) -> Bool {
    let victims = order.chooseVictims(for: weight)
    if victims.isEmpty { return false }
    drop(victims.first, cause, &move)
    for victim in victims.others { drop(victim, cause, &move) }
    return true
  }

  /// Evicts entries until no more than a share of the entries at the first step is left.
  ///
  /// - Returns: Whether another step is needed.
  @usableFromInline
  mutating func trim(
    to share: Double, _ cause: Removal<Key, Value>.Cause, _ progress: inout StoreProgress,
    atMost stepSize: Int, _ move: inout MemoryMove<Key, Value>
  ) -> Bool {
    let limits =
      progress.limits
      ?? (count: Int(Double(count) * share), cost: Int(Double(order.totalWeight) * share))
    if progress.limits == nil { progress.place = count }
    progress.limits = limits
    // Values stored meanwhile do not keep this from ending.
    let end = max(0, progress.place - stepSize)
    while count > limits.count || order.isWeighted && order.totalWeight > limits.cost {
      if progress.place <= end { return end > 0 }
      let former = count
      if !evict(for: 0, cause, &move) { return false }
      progress.place -= former - count
    }
    return false
  }

  /// Removes an entry.
  @inlinable
  mutating func drop(
    _ slot: Slot, _ cause: Removal<Key, Value>.Cause, _ move: inout MemoryMove<Key, Value>
  ) {
    index.remove(order.hash(of: slot), slot)
    order.removed(slot)
    if !validators.isEmpty { validators[slot] = nil }
    move.room.count += 1
    if order.isWeighted { move.room.cost += order.weight(of: slot) }
    let (key, value) = slab.take(slot)
    if !reloads.isEmpty { dropReload(of: slot, key) }
    switch cause {
    case .evicted, .pressure:
      statistics.evictions &+= 1
      remember(key, slot, &move)
    case .expired:
      statistics.expirations &+= 1
      remember(key, slot, &move)
    case .removed, .replaced: break
    }
    move.removals.append(Removal(key: key, value: value, cause: cause))
  }

  /// Remembers the last write of an entry that is evicted or expires, if an earlier write may be
  /// pending.
  @inlinable
  mutating func remember(_ key: Key, _ slot: Slot, _ move: inout MemoryMove<Key, Value>) {
    let revision = times.stamps[slot].revision
    if PendingWrite.isAny(before: revision) { remember(key, revision, &move) }
  }

  @usableFromInline
  mutating func remember(
    _ key: Key, _ revision: Revision, _ move: inout MemoryMove<Key, Value>
  ) {
    writes.remember(key, revision)
    move.removals.append(writes.takeForgotten())
  }

  /// Drops the entry if it has expired.
  @inlinable
  mutating func dropIfExpired(_ slot: Slot, _ move: inout MemoryMove<Key, Value>) -> Bool {
    guard times.expires, times.isExpired(slot, move.now) else { return false }
    if !validators.isEmpty, isConfirmable(slot, move.now) { return true }
    drop(slot, .expired, &move)
    budget.takeBack(&move.room)
    return true
  }

  /// Checks a few entries in turn, and drops expired ones, unless an origin may confirm them.
  @inlinable
  mutating func sweep(
    _ move: inout MemoryMove<Key, Value>, steps: Int = 4, dropsConfirmable: Bool = false
  ) {
    for _ in 0..<min(steps, slab.isUsed.count) {
      if sweepHand >= slab.isUsed.count { sweepHand = 0 }
      if slab.isUsed[sweepHand], times.isExpired(sweepHand, move.now),
        dropsConfirmable || validators.isEmpty || !isConfirmable(sweepHand, move.now)
      {
        drop(sweepHand, .expired, &move)
      }
      sweepHand += 1
    }
  }

  @inlinable
  mutating func add(
    _ key: Key, _ hash: MemoryHash, _ value: Value, _ validator: Validator?,
    _ details: MemoryDetails, _ now: Int64
  ) {
    let slot = takeFreeSlot()
    slab.fill(slot, key, value)
    index.insert(hash.bits, slot)
    setDetails(slot, details, validator, now)
    order.added(slot, hash.bits, weight: details.cost)
  }

  /// Replaces the value of an entry; false if there is no room for its higher cost.
  @inlinable
  mutating func exchange(
    _ slot: Slot, _ value: Value, _ validator: Validator?, _ details: MemoryDetails,
    _ move: inout MemoryMove<Key, Value>
  ) -> Bool {
    if order.isWeighted {
      let more = details.cost - order.weight(of: slot)
      if more > 0, !budget.reserve(moreCost: more) { return false }
      if more < 0 { move.room.cost -= more }
      if more != 0 { order.reweighed(slot, weight: details.cost) }
    }
    order.used(slot, order.hash(of: slot))
    let old = slab.exchange(slot, value)
    setDetails(slot, details, validator, move.now)
    move.removals.append(
      Removal(key: slab.pairs[Int(slot)].key, value: old, cause: .replaced))
    return true
  }

  @inlinable
  mutating func setDetails(
    _ slot: Slot, _ details: MemoryDetails, _ validator: Validator?, _ now: Int64
  ) {
    statistics.insertions &+= 1
    times.set(
      slot, MemoryExpiry.Stamp(bornAt: details.bornAt, revision: details.revision),
      deadline: details.deadline, own: details.ownDeadline, now)
    if validator != nil || !validators.isEmpty { validators[slot] = validator }
  }

  /// Whether a value is still the one that its origin has confirmed.
  @usableFromInline
  func canRenew(
    _ slot: Slot, _ validator: Validator?, _ details: MemoryDetails, _ now: Int64
  ) -> Bool {
    validators[slot] == validator && details.deadline > now
  }

  /// Makes a value new that its origin has confirmed.
  @usableFromInline
  mutating func renew(_ slot: Slot, _ details: MemoryDetails, _ now: Int64) {
    order.used(slot, order.hash(of: slot))
    times.set(
      slot, MemoryExpiry.Stamp(bornAt: details.bornAt, revision: times.stamps[slot].revision),
      deadline: details.deadline, own: details.ownDeadline, now)
  }

  /// Rejects a value; the stored value of its key is removed regardless.
  @usableFromInline
  mutating func reject(
    _ key: Key, _ details: MemoryDetails, _ move: inout MemoryMove<Key, Value>,
    _ slot: Slot?
  ) {
    statistics.rejections &+= 1
    if details.revision > .none { remember(key, details.revision, &move) }
    if let slot, slab.isUsed[slot] { drop(slot, .replaced, &move) }
  }

  @inlinable
  mutating func takeFreeSlot() -> Slot {
    let slot = order.nextSlot
    if Int(slot) == slab.capacity { grow() }
    return slot
  }

  /// Grows by half, but not beyond the expected number of entries.
  @inlinable
  mutating func grow() {
    let expected = expectedCount + expectedCount / 64 + 8
    let half = max(8, slab.capacity + slab.capacity / 2)
    let capacity =
      slab.capacity >= expected ? slab.capacity + slab.capacity / 16 + 8 : min(half, expected)
    // There is no free slot.
    slab.resize(to: capacity, isFull: true)
    pairs = slab.pairs
    index.reserve(capacity)
    times.reserve(capacity)
    order.reserve(capacity, expected: expectedCount)
  }
}
