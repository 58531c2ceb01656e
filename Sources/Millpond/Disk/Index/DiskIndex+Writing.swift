import MillpondCore

extension DiskIndex {
  mutating func takeConsequence() -> Consequence {
    if order.isSparse { shrink() }
    return exchange(&consequence, with: Consequence())
  }

  /// Carries out a write or fill, unless it came too late.
  mutating func decide(_ write: DiskWrite) -> Consequence {
    switch (write.content, write.token) {
    case (.removal, _): remove(write)
    case (.removalOfAll, _): removeAll(write.revision)
    case (_, nil): set(write)
    case (_, let token?): fill(write, token)
    }
    return takeConsequence()
  }

  /// Stores a value, unless its key was written later.
  private mutating func set(_ write: DiskWrite) {
    let slot = slot(of: write.hash)
    if admits(write, slot) { keep(write, slot) }
  }

  /// Stores the value of a fill, unless its key was written after the token was taken.
  private mutating func fill(_ write: DiskWrite, _ token: FillToken) {
    if writes.admit(token, for: write.hash) {
      let slot = slot(of: write.hash)
      // The last write of the key stays the same: that of its entry, or the last removal of
      // everything.
      write.revision = slot.map { revision(of: $0) } ?? writes.removalOfAll
      write.outdatesRecord = true
      keep(write, slot)
    }
  }

  private mutating func admits(_ write: DiskWrite, _ slot: Slot?) -> Bool {
    writes.admit(
      write.hash, write.revision, over: slot.map { revision(of: $0) } ?? .none)
  }

  /// Whether a value that was not admitted may leave an older one that is to be removed.
  func leavesOutdated(_ write: DiskWrite) -> Bool {
    guard slot(of: write.hash) != nil else { return false }
    return write.token.map { writes.leavesOutdated($0, for: write.hash) } ?? write.revision.isOfCopy
  }

  /// Remembers the last write of a key without an entry.
  mutating func remember(_ hash: KeyHash, _ revision: Revision) {
    writes.remember(hash, revision)
    _ = writes.takeForgotten()  // hashes, and no objects of users
  }

  /// Returns the order of the writes for the next store of the folder, at the end of this one.
  ///
  /// A write that has waited for that store may be earlier than one that is stored here. So the
  /// last writes of entries are remembered as those of other keys are: if an earlier write is
  /// pending, and the newest ones in any case.
  mutating func endOrder() -> WriteOrder<KeyHash> {
    let written = slots(where: { revisions[$0] > .none }).sorted { revisions[$0] > revisions[$1] }
    for (place, slot) in written.enumerated() {
      let revision = revisions[slot]
      guard place < 1_024 || PendingWrite.isAny(before: revision) else { break }
      remember(hashes[slot], revision)
    }
    return writes
  }

  /// Removes a key, unless it was written later.
  ///
  /// The removal is written even without an entry: an evicted one may still have a record in the
  /// log, and so may one that a later removal has removed, since that may fail.
  private mutating func remove(_ write: DiskWrite) {
    let slot = slot(of: write.hash)
    if admits(write, slot) {
      remember(write.hash, write.revision)
      if let slot { supersede(drop(slot), by: write) }
      consequence.isToBeWritten = true
    } else if let slot {
      consequence.replacing = outdate(slot, before: write.revision)
    } else {
      consequence.isToBeWritten = true
    }
  }

  /// Ensures that the value before a pending write does not answer again if that fails, since it
  /// was removed between the two.
  ///
  /// - Returns: The pending write; nil if the value was written after the removal.
  private func outdate(_ slot: Slot, before removal: Revision) -> DiskWrite? {
    guard let writes = pending[slot], revisions[slot] < removal else { return nil }
    let next = writes.earlier.first { $0.revision > removal } ?? writes.latest
    next.outdatesRecord = true
    return next
  }

  /// Removes everything that was written before, unless a later removal of everything came first.
  ///
  /// - Complexity: O(*n*).
  private mutating func removeAll(_ revision: Revision) {
    if writes.admitAll(revision) {
      _ = writes.takeForgotten()
      consequence.isToBeWritten = true
      let former = rebuild(keeping: slots(where: { self.revision(of: $0) >= revision }))
      former.pending.forEach { slot, writes in
        if let writes, former.revision(of: slot) < revision {
          consequence.evicted.append(writes.latest)
        }
        return true
      }
      for (slot, value) in former.largeValues where former.revision(of: slot) < revision {
        giveUp(value)
      }
      consequence.former = former
    }
  }

  private mutating func keep(_ write: DiskWrite, _ slot: Slot?) {
    consequence.isToBeWritten = true
    if !write.isToBeKept { evictBeyondLimit() }
    guard slot != nil || count < Self.greatestCount,
      write.isToBeKept
        || write.cost <= costLimit && makeRoom(for: write.hash, write.cost, besides: slot)
    else {
      statistics.rejections += 1
      if write.revision > .none { remember(write.hash, write.revision) }
      if let slot, !order.isFree(slot) { supersede(drop(slot), by: write) }
      // It is written as a removal of its key.
      return
    }
    consequence.isKept = true
    statistics.insertions += 1
    // The entry may have been evicted to make room.
    if let slot, !order.isFree(slot) {
      let old = takePending(slot)
      var earlier = old?.earlier ?? []
      if let latest = old?.latest, latest.isTaken || write.isOfGroup {
        earlier.append(latest)
      } else {
        supersede(old?.latest, by: write)
        if old?.latest.outdatesRecord == true { write.outdatesRecord = true }
      }
      put(write, slot, after: earlier)
      order.reweighed(slot, weight: write.cost)
      order.used(slot, write.hash.bits)
    } else {
      put(write, add(write.hash, write.cost))
    }
  }

  /// Records the write that is replaced; its streamed file, which no record will name, is no longer
  /// needed.
  ///
  /// One that the writer has is written even so, as is one that a write of a group follows.
  private mutating func supersede(_ old: DiskWrite?, by write: DiskWrite) {
    guard let old, !old.isTaken, !write.isOfGroup else { return }
    consequence.superseded = old
    if let file = old.file { consequence.files.append(file.number) }
  }
}
