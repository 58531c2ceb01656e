import MillpondSignals

extension MemoryShards {
  /// Divides the single store into all shards, once.
  ///
  /// - Complexity: O(*n*); all callers wait meanwhile.
  @inlinable
  func divide() {
    if isDivided { return }
    let whole = withShard(0) { store -> Store? in
      if isDivided { return nil }
      let whole = store
      store = whole.emptied()
      store.expectedCount = budget.countLimit / count
      for number in 1..<count {
        open(number, expectedCount: store.expectedCount)
        shards[number].store.writes = whole.writes
      }
      whole.order.forEach { slot in
        let hash = MemoryHash(whole.pairs[Int(slot)].key)
        let number = hash.shard(Self.shardCount - 1)
        if number == 0 {
          store.adopt(slot, hash, from: whole)
        } else {
          // No other thread uses these shards before the mask is stored.
          shards[number].store.adopt(slot, hash, from: whole)
        }
      }
      markDivided()
      return whole
    }
    withExtendedLifetime(whole) {}  // released here, not under the lock
  }
}

extension MemoryStore {
  /// Returns a copy without entries.
  @usableFromInline
  func emptied() -> MemoryStore {
    var store = self
    store.index = SlotIndex()
    store.slab = MemorySlab()
    store.pairs = store.slab.pairs
    store.times = times.emptied()
    store.validators = [:]
    store.reloads = [:]
    store.order = order.emptied()
    store.sweepHand = 0
    return store
  }

  /// Empties the tables of a large store that has no entries left, and returns the former ones.
  @usableFromInline
  mutating func takeIfEmpty() -> MemoryStore? {
    guard count == 0, slab.capacity > 1_024 else { return nil }
    let former = self
    self = emptied()
    return former
  }

  /// Takes over an entry of another store as the newest one.
  ///
  /// Index and order get the same hash, even if a key has changed and had another one there: a
  /// removal finds the entry in the index by the hash in the order.
  @inlinable
  mutating func adopt(_ theirs: Slot, _ hash: MemoryHash, from other: MemoryStore) {
    let pair = other.pairs[Int(theirs)]
    let slot = takeFreeSlot()
    slab.fill(slot, pair.key, pair.value)
    index.insert(hash.bits, slot)
    times.adopt(slot, from: other.times, theirs)
    if let validator = other.validators[theirs] { validators[slot] = validator }
    if let reload = other.reloads[theirs] { reloads[slot] = reload }
    order.adopt(slot, hash.bits, from: other.order, theirs)
  }
}
