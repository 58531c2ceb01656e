import MillpondCore

extension DiskIndex {
  /// Gives back the memory of free slots.
  mutating func shrink() {
    consequence.former = rebuild(keeping: slots(where: { _ in true }))
  }

  /// Moves entries to new memory without free slots, and gives up all others.
  ///
  /// - Parameter kept: The slots of the entries, in the order of eviction.
  /// - Returns: The entries as they were.
  /// - Complexity: O(*n*) in the entries that are kept.
  mutating func rebuild(keeping kept: [Slot]) -> DiskIndex {
    var former = DiskIndex(costLimit: costLimit, order.emptied())
    swap(&self, &former)
    // Swapped one by one: a shared dictionary would be copied at its next change.
    swap(&writes, &former.writes)
    swap(&leases, &former.leases)
    swap(&removedAfterLease, &former.removedAfterLease)
    swap(&consequence, &former.consequence)
    statistics = former.statistics
    slots.reserve(kept.count)
    reserve(kept.count)
    for slot in kept { adopt(slot, of: former) }
    return former
  }

  private mutating func adopt(_ theirs: Slot, of former: DiskIndex) {
    let (hash, slot) = (former.hashes[theirs], order.nextSlot)
    hashes.put(hash, at: slot)
    locations.put(.nowhere, at: slot)
    slots.insert(hash.bits, slot)
    order.adopt(slot, hash.bits, from: former.order, theirs)
    place(former.locations[theirs], former.largeValues[theirs], slot)
    let revision = former.revisions[theirs]
    if revision != .none { revisions[slot] = revision }
    if let writes = former.pending[theirs] {
      put(writes.latest, slot, after: writes.earlier)
    }
  }
}
