extension MemoryStore {
  /// Gives up slots while fewer than a quarter are in use, and memory that no slot needs.
  ///
  /// Slots are given up from the end: their entries move to free slots.
  ///
  /// - Parameter count: The greatest number of slots; no fewer than four, so that it keeps pace
  ///   with removals.
  /// - Returns: Whether there are more to be given up.
  @usableFromInline
  @discardableResult
  mutating func shrink(atMost count: Int = 8) -> Bool {
    if walks > 0 { return false }
    for _ in 0..<count where order.isSparse {
      let (last, place) = order.removeLastSlot()
      slab.removeLast(to: place)
      times.removeLast(to: place)
      guard place != last else { continue }
      index.move(order.hash(of: place), from: last, to: place)
      if !validators.isEmpty { validators[place] = validators.removeValue(forKey: last) }
      if !reloads.isEmpty { reloads[place] = reloads.removeValue(forKey: last) }
    }
    if slab.capacity > 2 * slab.isUsed.count + SlotNodes.fewSlots { fit() }
    return order.isSparse
  }

  /// Moves pairs and buckets to smaller memory.
  ///
  /// - Complexity: O(*n*) in the slots of this store, after twice as many removals.
  private mutating func fit() {
    let capacity = slab.isUsed.count + slab.isUsed.count / 4
    slab.resize(to: capacity)
    pairs = slab.pairs
    index.shrink(capacity)
  }
}
