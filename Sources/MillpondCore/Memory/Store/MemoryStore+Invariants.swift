extension MemoryStore {
  /// Checks the store at intervals; returns a violated invariant, or nil.
  ///
  /// For debug builds. A small store is checked once in 64 insertions, any other once in 8,192, so
  /// that an insertion costs at most the work of a few entries. Keys are left out, since a user's
  /// key may change while it is stored, which must not trap.
  @usableFromInline
  func occasionalFlaw() -> String? {
    let insertions = statistics.insertions
    let isDue = insertions & 8_191 == 0 || count <= 32 && insertions & 63 == 0
    return isDue ? flaw(checksKeys: false) : nil
  }

  /// Returns a violated invariant of the store; nil if there is none.
  ///
  /// - Parameter checksKeys: Whether all keys are as they were when they were stored.
  /// - Complexity: O(*n*).
  @usableFromInline
  func flaw(checksKeys: Bool = true) -> String? {
    indexFlaw() ?? (checksKeys ? keyFlaw() : nil) ?? slotFlaw() ?? order.flaw(isUsed: slab.isUsed)
      ?? detailFlaw()
  }

  /// Checks that each used slot has one bucket, found by its hash, and that there are no other
  /// buckets.
  private func indexFlaw() -> String? {
    let taken = (0..<index.buckets.count).count { index.buckets[$0] != 0 }
    if taken != index.count { return "\(taken) buckets are taken, not \(index.count)" }
    for slot in 0..<slab.isUsed.count where slab.isUsed[slot] {
      let hash = order.hash(of: Slot(slot))
      guard index.find(hash, { $0 == slot }) != nil else { return "slot \(slot) is not found" }
    }
    return nil
  }

  /// Checks that each key is itself, has the hash of its slot, and is there once.
  private func keyFlaw() -> String? {
    for slot in 0..<slab.isUsed.count where slab.isUsed[slot] {
      let key = slab.pairs[slot].key
      if key != key { return "slot \(slot) has a key that is not itself" }
      if order.hash(of: Slot(slot)) != MemoryHash(key).bits {
        return "slot \(slot) has another key's hash"
      }
      guard find(key, MemoryHash(key)) == Slot(slot) else { return "slot \(slot) has a twin" }
    }
    return nil
  }

  /// Checks that each slot is either used or free.
  private func slotFlaw() -> String? {
    let used = (0..<slab.isUsed.count).count { slab.isUsed[$0] }
    if used != count { return "\(used) slots are used, not \(count)" }
    if slab.isUsed.count > slab.capacity { return "more slots than there is memory for" }
    return nil
  }

  /// Checks that times and validators belong to existing entries.
  private func detailFlaw() -> String? {
    if times.stamps.count != slab.isUsed.count { return "stamps of other slots" }
    if times.deadlines.count > slab.isUsed.count { return "deadlines of other slots" }
    if times.ownDeadlines.count > slab.isUsed.count { return "own deadlines of other slots" }
    let idleCount = times.idleTime < .max ? slab.isUsed.count : 0
    if times.lastUses.count != idleCount { return "last uses of other slots" }
    if order.nodes.count != slab.isUsed.count { return "nodes of other slots" }
    let isKnown = (Array(validators.keys) + reloads.keys).allSatisfy { slab.isUsed[$0] }
    return isKnown ? nil : "the validator of a free slot"
  }
}

extension PolicyOrder {
  /// Returns a violated invariant of the order of these slots; nil if there is none.
  func flaw(isUsed: ChunkedArray<Bool>) -> String? {
    var isMissing = (0..<isUsed.count).map { isUsed[$0] }
    for (list, state) in lists {
      if let flaw = nodes.flaw(of: list) { return flaw }
      for slot in nodes.slots(of: list) {
        guard isMissing[Int(slot)] else { return "slot \(slot) is listed twice, or free" }
        isMissing[Int(slot)] = false
        if states[slot] & Self.list != state {
          return "slot \(slot) is in another list than it says"
        }
      }
    }
    if let slot = isMissing.firstIndex(of: true) { return "slot \(slot) is in no list" }
    return nodes.freeFlaw(isUsed: isUsed)
  }

  /// Each list, and the state that its entries should have.
  private var lists: [(SlotList, UInt8)] {
    [(window, Self.inWindow), (probation, Self.inProbation), (protected, Self.inProtected)]
  }
}

extension SlotNodes {
  /// Returns a violated invariant of a list; nil if there is none.
  fileprivate func flaw(of list: SlotList) -> String? {
    let slots = slots(of: list)
    if slots.count != list.count { return "\(slots.count) slots in a list of \(list.count)" }
    if slots.last ?? -1 != list.newest { return "the newest slot of a list is not its last" }
    let weight = slots.reduce(0) { $0 + self.weight(of: $1) }
    if weight != list.weight { return "a list weighs \(weight), not \(list.weight)" }
    var older: Slot = -1
    for slot in slots {
      if nodes[slot].older != older { return "slot \(slot) has a wrong neighbour" }
      older = slot
    }
    return nil
  }

  /// Returns a violated invariant of the list of free slots; nil if there is none.
  fileprivate func freeFlaw(isUsed: ChunkedArray<Bool>) -> String? {
    var isFree = (0..<isUsed.count).map { !isUsed[$0] }
    for slot in freeSlots {
      guard isFree[Int(slot)] else { return "slot \(slot) is free twice, or used" }
      isFree[Int(slot)] = false
    }
    return isFree.contains(true) ? "slots that are neither used nor free" : nil
  }

  /// Returns the slots of a list, oldest first; one more than its count if the list does not end
  /// there.
  fileprivate func slots(of list: SlotList) -> [Slot] {
    var slots: [Slot] = []
    var slot = list.oldest
    while slot >= 0, slots.count <= list.count {
      slots.append(slot)
      slot = newer(than: slot)
    }
    return slots
  }
}
