import MillpondCore

extension DiskIndex {
  mutating func takeConsequence() -> Consequence { exchange(&consequence, with: Consequence()) }

  /// Keeps a value, unless its key was written to later.
  mutating func set(_ write: DiskWrite, cost: Int) -> Consequence {
    let slot = slot(of: write.hash)
    if admits(write, slot) { keep(write, cost: cost, slot) }
    return takeConsequence()
  }

  /// Keeps what a lower layer gave, unless its key was written to since the token was drawn.
  mutating func fill(_ write: DiskWrite, cost: Int, _ token: FillToken) -> Consequence {
    if writes.admit(token, hash: write.hash.whole) {
      let slot = slot(of: write.hash)
      // The last write of the key stays what it was.
      if let slot { write.revision = revision(of: slot) }
      keep(write, cost: cost, slot)
    }
    return takeConsequence()
  }

  private mutating func admits(_ write: DiskWrite, _ slot: Slot?) -> Bool {
    writes.admit(
      write.hash, hash: write.hash.whole, write.revision,
      over: slot.map { revision(of: $0) } ?? .none)
  }

  /// Remembers the last write of a key that will have no entry.
  mutating func remember(_ hash: KeyHash, _ revision: Revision) {
    writes.remember(hash, revision)
    _ = writes.takeForgotten()  // hashes, and no objects of users
  }

  /// Removes a key, unless it was written to later.
  ///
  /// That is written also where there is no entry: one may have been evicted, and lie in the log still.
  mutating func remove(_ write: DiskWrite) -> Consequence {
    let slot = slot(of: write.hash)
    if admits(write, slot) {
      remember(write.hash, write.revision)
      if let slot { supersede(drop(slot)) }
      consequence.isToBeWritten = true
    }
    return takeConsequence()
  }

  /// Removes everything that was written before, unless a later removal of everything came first.
  mutating func removeAll(_ revision: Revision) -> Consequence {
    if writes.admitAll(revision) {
      _ = writes.takeForgotten()
      consequence.isToBeWritten = true
      dropAll(slots(where: { self.revision(of: $0) <= revision }))
    }
    return takeConsequence()
  }

  private mutating func keep(_ write: DiskWrite, cost: Int, _ slot: Slot?) {
    consequence.isToBeWritten = true
    guard cost <= costLimit, slot != nil || count < Self.greatestCount,
      makeRoom(for: write.hash, cost, besides: slot)
    else {
      statistics.rejections += 1
      if write.revision > .none { remember(write.hash, write.revision) }
      if let slot = self.slot(of: write.hash) { supersede(drop(slot)) }
      // A value that can't be kept is written as its key's removal.
      write.isVoid = true
      return
    }
    statistics.insertions += 1
    if let slot = self.slot(of: write.hash) {
      let old = takePending(slot)
      supersede(old)
      put(write, slot)
      if let old { overtake(old, by: write, slot) }
      order.reweighed(slot, weight: cost)
      order.used(slot, write.hash.bits)
    } else {
      put(write, add(write.hash, cost))
    }
    largeBytes += write.largeLength
  }

  /// Notes the write that is replaced: a file that was streamed for it, and that no record will name, is
  /// not needed any more.
  private mutating func supersede(_ old: DiskWrite?) {
    consequence.superseded = old
    if let old, !old.isTaken, let file = old.file { consequence.files.append(file.number) }
  }

  /// Lets a write that has begun stay the entry's: it is what was there before if the later one fails.
  private func overtake(_ old: DiskWrite, by write: DiskWrite, _ slot: Slot) {
    if old.isTaken {
      old.slot = slot
      write.underway = old
    } else {
      write.underway = old.underway
      old.underway = nil
    }
  }
}

// MARK: - What has been written

extension DiskIndex {
  /// Notes that a record of `write` lies at `spot` now; its consequence is the caller's to take.
  mutating func settle(_ write: DiskWrite, at spot: Spot) {
    guard write.slot >= 0 else {
      if let file = write.file { consequence.files.append(file.number) }
      return
    }
    let slot = write.slot
    let isOvertaken = endUnderway(write, slot)
    if !isOvertaken { _ = takePending(slot) }
    dropLargeValue(slot)
    if let file = write.file {
      largeValues[slot] = file
      largeBytes += file.count
    }
    liveBytes += Int(spot.size) - Int(spots[slot].size)
    spots[slot] = spot
    while revisions.count <= Int(slot) { revisions.append(.none) }
    revisions[slot] = write.revision
    // A sealed value may be larger than it was.
    if !isOvertaken { reweigh(slot) }
  }

  /// Whether the entry was written to again; then nothing of this write is awaited any more.
  private func endUnderway(_ write: DiskWrite, _ slot: Slot) -> Bool {
    guard let later = self.pending(of: slot), later !== write else { return false }
    later.underway = nil
    write.slot = -1
    return true
  }

  /// Forgets a write that failed: what was there before is there again.
  ///
  /// - Returns: The files that are not needed any more.
  mutating func fail(_ write: DiskWrite) -> [UInt64] {
    if let file = write.file { consequence.files.append(file.number) }
    let slot = write.slot
    if slot >= 0, !endUnderway(write, slot) {
      _ = takePending(slot)
      if spots[slot].isNowhere { _ = drop(slot) } else { reweigh(slot) }
    }
    return takeConsequence().files
  }

  private mutating func reweigh(_ slot: Slot) {
    let cost = DiskLimits.cost(
      recordSize: Int(spots[slot].size), large: largeValues[slot]?.count ?? 0)
    if cost != order.weight(of: slot) { order.reweighed(slot, weight: cost) }
  }

  /// Notes that a record has been copied, if it is still needed.
  mutating func move(_ hash: KeyHash, from old: Spot, to new: Spot) {
    guard let slot = slot(of: hash), holds(hash, at: old) else { return }
    spots[slot].segment = new.segment
    spots[slot].offset = new.offset
  }

  /// Forgets a record that turned out to be bad, or too old.
  ///
  /// - Returns: The files that are not needed any more; nil if it was another record.
  mutating func forget(_ hash: KeyHash, at spot: Spot) -> [UInt64]? {
    guard let slot = slot(of: hash), spots[slot] == spot, pending(of: slot) == nil else {
      return nil
    }
    _ = drop(slot)
    return takeConsequence().files
  }

  /// Forgets the records in a segment that is removed.
  ///
  /// - Returns: The files that are not needed any more.
  mutating func forget(segment: UInt32) -> [UInt64] {
    for slot in slots(in: segment) {
      if pending(of: slot) == nil {
        _ = drop(slot)
      } else {
        liveBytes -= Int(spots[slot].size)
        spots[slot] = .nowhere
      }
    }
    return takeConsequence().files
  }

  /// Forgets all records and files: they are there no more.
  mutating func forgetAllSpots() {
    dropAll(slots(where: { pending(of: $0) == nil }))
    liveBytes = 0
    for slot in slots(where: { _ in true }) {
      spots[slot] = .nowhere
      dropLargeValue(slot)
    }
    consequence = Consequence()
  }
}
