import MillpondCore

extension DiskIndex {
  /// Lets others go, until there is room; false if the newcomer is not worth it.
  mutating func makeRoom(
    for hash: KeyHash, _ cost: Int, besides slot: Slot?, _ consequence: inout Consequence
  ) -> Bool {
    var isWithoutContest = true
    var tries = count
    while totalCost - presentCost(of: hash, slot) > costLimit - cost {
      if isWithoutContest, slot == nil, !order.admits(hash.bits, weight: cost) { return false }
      isWithoutContest = false
      let victims = order.chooseVictims(for: cost)
      if victims.isEmpty || tries < 0 { return false }
      for victim in CollectionOfOne(victims.first) + victims.others {
        tries -= 1
        evict(victim, &consequence)
      }
    }
    if isWithoutContest { order.settle() }
    return true
  }

  func presentCost(of hash: KeyHash, _ slot: Slot?) -> Int {
    // The entry that gets a new value may be among those who went.
    guard let slot, hashes[slot] == hash, self.slot(of: hash) != nil else { return 0 }
    return order.weight(of: slot)
  }

  mutating func evict(_ victim: Slot, _ consequence: inout Consequence) {
    if let value = largeValues[victim], leases[value.number] != nil {
      // Somebody holds its file: it goes to the end of the line.
      let (hash, cost) = (hashes[victim], order.weight(of: victim))
      order.removed(victim)
      order.added(victim, hash.bits, weight: cost)
      return
    }
    statistics.evictions += 1
    if let telling = drop(victim, &consequence) { consequence.evicted.append(telling) }
  }

  func revision(of slot: Slot) -> Revision {
    telling(of: slot)?.revision
      ?? (Int(slot) < revisions.count ? revisions[slot] : .none)
  }

  /// Takes an entry out.
  ///
  /// - Returns: What was on its way.
  mutating func drop(_ slot: Slot, _ consequence: inout Consequence) -> Told? {
    let revision = revision(of: slot)
    if PendingWrite.isAny(before: revision) { remember(hashes[slot], revision) }
    let telling = takeTelling(slot)
    telling?.underway?.slot = -1
    telling?.underway = nil
    liveBytes -= Int(spots[slot].size)
    spots[slot] = .nowhere
    dropLargeValue(slot, &consequence)
    slots.remove(hashes[slot].bits, slot)
    order.removed(slot)
    freeSlots.append(slot)
    return telling
  }

  func telling(of slot: Slot) -> Told? {
    Int(slot) < tellings.count ? tellings[Int(slot)] : nil
  }

  mutating func put(_ telling: Told, _ slot: Slot) {
    while tellings.count <= Int(slot) { tellings.append(nil) }
    tellings[Int(slot)] = telling
    telling.slot = slot
  }

  /// What was on its way, and is not the entry's any more.
  mutating func takeTelling(_ slot: Slot) -> Told? {
    guard let telling = telling(of: slot) else { return nil }
    tellings[Int(slot)] = nil
    telling.slot = -1
    largeBytes -= telling.largeLength
    return telling
  }

  /// What is being written already stays the entry's: if what came after it can't be written, it is
  /// what was there before.
  func overtake(_ old: Told, by telling: Told, _ slot: Slot) {
    if old.isTaken {
      old.slot = slot
      telling.underway = old
    } else {
      telling.underway = old.underway
      old.underway = nil
    }
  }

  mutating func dropLargeValue(_ slot: Slot, _ consequence: inout Consequence) {
    guard let value = largeValues.removeValue(forKey: slot) else { return }
    largeBytes -= value.count
    if leases[value.number] == nil {
      consequence.files.append(value.number)
    } else {
      doomed.insert(value.number)
    }
  }

  mutating func add(_ hash: KeyHash, _ cost: Int) -> Slot {
    let slot = open(hash)
    order.added(slot, hash.bits, weight: cost)
    return slot
  }

  /// A slot for a key that has none.
  mutating func open(_ hash: KeyHash) -> Slot {
    let slot = freeSlots.popLast() ?? grow()
    hashes.put(hash, at: slot)
    spots.put(.nowhere, at: slot)
    if Int(slot) < revisions.count { revisions[slot] = .none }
    slots.insert(hash.bits, slot)
    return slot
  }

  mutating func grow() -> Slot {
    if hashes.count == hashes.capacity { reserve(max(256, hashes.count * 2)) }
    return Slot(hashes.count)
  }

  /// Makes room in memory for so many entries.
  mutating func reserve(_ capacity: Int) {
    hashes.reserve(capacity)
    spots.reserve(capacity)
    slots.reserve(capacity)
    order.reserve(capacity, expected: capacity)
  }
}
