import MillpondCore

extension DiskIndex {
  mutating func takeConsequence() -> Consequence {
    if order.isSparse { shrink() }
    return exchange(&consequence, with: Consequence())
  }

  /// Stores a value, unless its key was written later.
  mutating func set(_ write: DiskWrite, cost: Int) -> Consequence {
    let slot = slot(of: write.hash)
    if admits(write, slot) { keep(write, cost: cost, slot) }
    return takeConsequence()
  }

  /// Stores the value of a fill, unless its key was written after the token was taken.
  mutating func fill(_ write: DiskWrite, cost: Int, _ token: FillToken) -> Consequence {
    if writes.admit(token, for: write.hash) {
      let slot = slot(of: write.hash)
      // The last write of the key stays the same: that of its entry, or the last removal of
      // everything.
      write.revision = slot.map { revision(of: $0) } ?? writes.removalOfAll
      write.outdatesRecord = true
      keep(write, cost: cost, slot)
    }
    return takeConsequence()
  }

  /// Renews the times of a value, unless its key was written after the token was taken.
  ///
  /// If the value has moved, or was replaced, it has to be looked up again.
  mutating func renew(_ write: DiskWrite, cost: Int, _ token: FillToken) -> Consequence {
    guard let slot = slot(of: write.hash), case .of(let place) = write.renewal,
      place.isSame(as: finding(slot))
    else {
      write.renewal = .outdated
      return takeConsequence()
    }
    write.renewal = .decided
    // Admitted last, since a reload that is admitted refuses older gets.
    if writes.admit(token, for: write.hash) {
      write.revision = revision(of: slot)
      if case .file = write.content {
        consequence.isToBeWritten = true
        consequence.isKept = true
        put(write, slot)
        order.used(slot, write.hash.bits)
      } else {
        keep(write, cost: cost, slot)
      }
    }
    return takeConsequence()
  }

  private mutating func admits(_ write: DiskWrite, _ slot: Slot?) -> Bool {
    writes.admit(
      write.hash, write.revision, over: slot.map { revision(of: $0) } ?? .none)
  }

  /// Whether a value that was not admitted may leave an older one that is to be removed.
  ///
  /// - Parameters:
  ///   - write: The write or fill.
  ///   - token: The token of a fill; nil for a write.
  func leavesOutdated(_ write: DiskWrite, _ token: FillToken?) -> Bool {
    guard slot(of: write.hash) != nil else { return false }
    return token.map { writes.leavesOutdated($0, for: write.hash) } ?? write.revision.isOfCopy
  }

  /// Remembers the last write of a key without an entry.
  mutating func remember(_ hash: KeyHash, _ revision: Revision) {
    writes.remember(hash, revision)
    _ = writes.takeForgotten()  // hashes, and no objects of users
  }

  /// Removes a key, unless it was written later.
  ///
  /// The removal is written even without an entry: an evicted one may still have a record in the
  /// log.
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
  ///
  /// If a later write has overtaken this one, or many writes are pending, the removed entries are
  /// left to be dropped by ``dropRemoved(atMost:)``; no lookup finds them.
  ///
  /// - Complexity: O(1), apart from a bounded number of pending writes and large values.
  mutating func removeAll(_ revision: Revision) -> Consequence {
    if writes.admitAll(revision) {
      _ = writes.takeForgotten()
      consequence.isToBeWritten = true
      leaveRemoved(before: revision)
      clearIfPossible()
    }
    return takeConsequence()
  }

  private mutating func keep(_ write: DiskWrite, cost: Int, _ slot: Slot?) {
    consequence.isToBeWritten = true
    if !write.isToBeKept { evictBeyondLimit() }
    guard slot != nil || count < Self.greatestCount,
      write.isToBeKept || cost <= costLimit && makeRoom(for: write.hash, cost, besides: slot)
    else {
      statistics.rejections += 1
      if write.revision > .none { remember(write.hash, write.revision) }
      if let slot, !order.isFree(slot) { supersede(drop(slot)) }
      // A value that can't be stored is written as a removal of its key.
      write.isVoid = true
      return
    }
    consequence.isKept = true
    statistics.insertions += 1
    newest = max(newest, write.revision)
    removed?.isAll = false
    // The entry may have been evicted to make room.
    if let slot, !order.isFree(slot) {
      let old = takePending(slot)
      supersede(old)
      if let old, !old.isTaken, old.outdatesRecord { write.outdatesRecord = true }
      put(write, slot)
      if let old { overtake(old, by: write, slot) }
      order.reweighed(slot, weight: cost)
      order.used(slot, write.hash.bits)
    } else {
      put(write, add(write.hash, cost))
    }
    largeBytes += write.largeLength
  }

  /// Records the write that is replaced; its streamed file, which no record will name, is no longer
  /// needed.
  private mutating func supersede(_ old: DiskWrite?) {
    consequence.superseded = old
    if let old, !old.isTaken, let file = old.file { consequence.files.append(file.number) }
  }

  /// Keeps a write that has begun with its entry: it is the stored value if the later write fails.
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

// MARK: - After writing

extension DiskIndex {
  /// Records that `write` is stored at `location`; the caller takes the consequence.
  mutating func settle(_ write: DiskWrite, at location: RecordLocation) {
    guard write.slot >= 0 else {
      if let file = write.file { consequence.files.append(file.number) }
      return
    }
    let slot = write.slot
    let isOvertaken = endUnderway(write, slot)
    if !isOvertaken { _ = takePending(slot) }
    if !write.keepsFile {
      dropLargeValue(slot)
      if let file = write.file {
        largeValues[slot] = file
        largeBytes += file.count
      }
    }
    liveBytes += Int(location.size) - Int(locations[slot].size)
    locations[slot] = location
    revisions[slot] = write.revision
    // A sealed value may be larger than it was.
    if !isOvertaken { reweigh(slot) }
  }

  /// Detaches a write from its entry if a later write has replaced it; returns whether one has.
  private func endUnderway(_ write: DiskWrite, _ slot: Slot) -> Bool {
    guard let later = pending[slot], later !== write else { return false }
    later.underway = nil
    write.slot = -1
    return true
  }

  /// Removes a write that failed; the value before it is the stored one again, unless that is out
  /// of date.
  ///
  /// - Returns: The files that are no longer needed, and whether the log may still have a record of
  ///   the key that is out of date.
  mutating func fail(_ write: DiskWrite) -> (files: [UInt64], leavesRecord: Bool) {
    var mayLeaveRecord = write.outdatesRecord && (mayOmitValues || write.isVoid)
    mayOmitValues = true
    if let file = write.file { consequence.files.append(file.number) }
    let slot = write.slot
    if slot < 0 {
      // A later write of the key replaces the record.
      if self.slot(of: write.hash) != nil { mayLeaveRecord = false }
    } else if endUnderway(write, slot) {
      if write.outdatesRecord, let later = pending[slot] { later.outdatesRecord = true }
      mayLeaveRecord = false
    } else {
      _ = takePending(slot)
      let hasRecord = !locations[slot].isNowhere
      if hasRecord, write.outdatesRecord { mayLeaveRecord = true }
      if hasRecord, !write.outdatesRecord { reweigh(slot) } else { _ = drop(slot) }
    }
    return (takeConsequence().files, mayLeaveRecord)
  }

  private mutating func reweigh(_ slot: Slot) {
    let cost = DiskLimits.cost(
      recordSize: Int(locations[slot].size), large: largeValues[slot]?.count ?? 0)
    if cost != order.weight(of: slot) { order.reweighed(slot, weight: cost) }
  }

  /// Records the new position of a copied record, if it is still needed.
  mutating func move(_ hash: KeyHash, from old: RecordLocation, to new: RecordLocation) {
    guard let slot = slot(of: hash), holds(hash, at: old) else { return }
    locations[slot].segment = new.segment
    locations[slot].offset = new.offset
  }

  /// Removes the entry of a record that is damaged or expired.
  ///
  /// - Returns: Nil if the key has another record.
  mutating func forget(_ hash: KeyHash, at location: RecordLocation) -> Consequence? {
    guard let slot = slot(of: hash), locations[slot] == location, pending[slot] == nil else {
      return nil
    }
    _ = drop(slot)
    return takeConsequence()
  }

  /// Removes the entry of a record that is lost; a pending write of its key stays.
  mutating func lose(_ hash: KeyHash, at location: RecordLocation) {
    guard let slot = slot(of: hash), locations[slot] == location else { return }
    if pending[slot] == nil {
      _ = drop(slot)
    } else {
      liveBytes -= Int(location.size)
      locations[slot] = .nowhere
    }
  }

  /// Removes all records and files, which no longer exist.
  mutating func forgetAllLocations() {
    dropAll(slots(where: { pending[$0] == nil }))
    liveBytes = 0
    for slot in slots(where: { _ in true }) {
      locations[slot] = .nowhere
      dropLargeValue(slot)
    }
    consequence = Consequence()
  }
}
