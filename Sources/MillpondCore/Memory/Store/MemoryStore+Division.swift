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

  /// Takes over the entries of another store for which `isMine` is true.
  @usableFromInline
  mutating func adopt(from other: MemoryStore, where isMine: (MemoryHash) -> Bool) {
    other.order.forEach { slot in
      let pair = other.slab.pairs[Int(slot)]
      let hash = MemoryHash(pair.key)
      guard isMine(hash) else { return }
      let mine = takeFreeSlot()
      slab.fill(mine, pair.key, pair.value)
      index.insert(hash.bits, mine)
      times.adopt(mine, from: other.times, slot)
      if let validator = other.validators[slot] { validators[mine] = validator }
      order.adopt(mine, from: other.order, slot)
    }
  }
}
