extension MemoryStore {
  /// The same store without entries.
  @usableFromInline
  func emptied() -> MemoryStore {
    var store = self
    store.index = SlotIndex()
    store.slab = MemorySlab()
    store.pairs = store.slab.pairs
    store.times = times.emptied()
    store.validators = [:]
    store.order = order.emptied()
    store.freeSlots = []
    store.sweepHand = 0
    return store
  }

  /// Takes over an entry of another store as its newest.
  @inlinable
  mutating func adopt(_ theirs: Slot, _ hash: MemoryHash, from other: MemoryStore) {
    let pair = other.pairs[Int(theirs)]
    let slot = takeFreeSlot()
    slab.fill(slot, pair.key, pair.value)
    index.insert(hash.bits, slot)
    times.adopt(slot, from: other.times, theirs)
    if let validator = other.validators[theirs] { validators[slot] = validator }
    order.adopt(slot, from: other.order, theirs)
  }
}
