import MillpondCore

extension DiskIndex {
  /// Evicts other entries until there is room; false if the new entry is not worth it.
  mutating func makeRoom(
    for hash: KeyHash, _ cost: Int, besides slot: Slot?
  ) -> Bool {
    if totalCost - presentCost(of: slot) <= costLimit - cost {
      order.settle()
      return true
    }
    if slot == nil, !order.admits(hash.bits, weight: cost) { return false }
    return evict(for: cost, besides: slot)
  }

  /// Evicts what is above the limit, as after an opening with a lower one.
  mutating func evictBeyondLimit() { _ = evict(for: 0, besides: nil) }

  private mutating func evict(for cost: Int, besides slot: Slot?) -> Bool {
    var tries = count
    while totalCost - presentCost(of: slot) > costLimit - cost {
      let victims = order.chooseVictims(for: cost)
      if victims.isEmpty || tries < 0 { return false }
      for victim in CollectionOfOne(victims.first) + victims.others {
        tries -= 1
        evict(victim)
      }
    }
    return true
  }

  /// Returns the bytes that are missing for entries that must be kept, in place of those that their
  /// keys have; zero if there is room, or they take no more than before.
  ///
  /// - Parameter writes: The writes of the entries, at most one for a key.
  func missingBytes(for writes: [DiskWrite]) -> Int {
    var growth = 0
    for write in writes {
      let (sum, overflow) = growth.addingReportingOverflow(write.cost)
      if overflow { return .max }
      growth = sum - presentCost(of: slot(of: write.hash))
    }
    if growth <= 0 { return 0 }
    let (missing, overflow) = growth.addingReportingOverflow(totalCost - costLimit)
    return overflow ? .max : max(0, missing)
  }

  private func presentCost(of slot: Slot?) -> Int {
    // The entry that gets the new value may have been evicted.
    guard let slot, !order.isFree(slot) else { return 0 }
    return order.weight(of: slot)
  }

  private mutating func evict(_ victim: Slot) {
    if let value = largeValues[victim], isLeased(value.number) {
      // Its file is in use, so it moves to the end of the order.
      return order.postponed(victim)
    }
    statistics.evictions += 1
    if let write = drop(victim) { consequence.evicted.append(write) }
  }

  func revision(of slot: Slot) -> Revision { pending[slot]?.latest.revision ?? revisions[slot] }

  /// Removes an entry.
  ///
  /// - Returns: Its latest pending write.
  mutating func drop(_ slot: Slot) -> DiskWrite? {
    writes.forget(hashes[slot], revision(of: slot))
    _ = writes.takeForgotten()  // hashes, and no objects of users
    let write = takePending(slot)?.latest
    liveBytes -= Int(locations[slot].size)
    locations[slot] = .nowhere
    dropLargeValue(slot)
    if revisions[slot] != .none { revisions[slot] = .none }
    slots.removeShrinking(hashes[slot].bits, slot)
    order.removed(slot)
    return write
  }

  mutating func put(_ write: DiskWrite, _ slot: Slot, after earlier: [DiskWrite] = []) {
    pending[slot] = PendingWrites(latest: write, earlier: earlier)
    pendingCount += 1
    largeBytes += write.largeLength
  }

  /// Removes the pending writes of an entry.
  mutating func takePending(_ slot: Slot) -> PendingWrites? {
    guard let writes = pending[slot] else { return nil }
    pending[slot] = nil
    pendingCount -= 1
    largeBytes -= writes.latest.largeLength
    return writes
  }

  mutating func dropAll(_ slots: [Slot]) {
    for slot in slots { if let write = drop(slot) { consequence.evicted.append(write) } }
  }

  mutating func dropLargeValue(_ slot: Slot) {
    guard let value = largeValues.removeValue(forKey: slot) else { return }
    largeBytes -= value.count
    giveUp(value)
  }

  mutating func add(_ hash: KeyHash, _ cost: Int) -> Slot {
    let slot = open(hash)
    order.added(slot, hash.bits, weight: cost)
    return slot
  }

  private mutating func open(_ hash: KeyHash) -> Slot {
    let slot = order.nextSlot
    if Int(slot) == hashes.capacity { reserve(max(256, Int(slot) + min(Int(slot), 1_024))) }
    hashes.put(hash, at: slot)
    locations.put(.nowhere, at: slot)
    slots.insert(hash.bits, slot)
    return slot
  }

  mutating func reserve(_ capacity: Int) {
    hashes.reserve(capacity)
    locations.reserve(capacity)
    order.reserve(capacity, expected: 0)
  }
}
