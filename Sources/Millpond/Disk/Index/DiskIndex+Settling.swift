import MillpondCore

/// Changes of the index after writes that have reached the disk, or have failed.
extension DiskIndex {
  /// Records that `write` is stored at `location`; the caller takes the consequence.
  mutating func settle(_ write: DiskWrite, at location: RecordLocation) {
    guard let slot = slot(of: write.hash), let isLatest = detach(write, from: slot) else {
      if let file = write.file { consequence.files.append(file.number) }
      return
    }
    dropLargeValue(slot)
    if let file = write.file {
      largeValues[slot] = file
      largeBytes += file.count
    }
    liveBytes += Int(location.size) - Int(locations[slot].size)
    locations[slot] = location
    revisions[slot] = write.revision
    // A sealed value may be larger than it was.
    if isLatest { reweigh(slot) }
  }

  /// Takes a write that has ended from its entry.
  ///
  /// - Returns: Whether it was the latest one; nil if the entry does not have it any more.
  private mutating func detach(_ write: DiskWrite, from slot: Slot) -> Bool? {
    guard let writes = pending[slot] else { return nil }
    if writes.latest === write {
      _ = takePending(slot)
      return true
    }
    guard let place = writes.earlier.firstIndex(where: { $0 === write }) else { return nil }
    pending[slot]?.earlier.remove(at: place)
    return false
  }

  /// Removes a write that failed; the value before it is the stored one again, unless that is out
  /// of date.
  ///
  /// - Returns: The files that are no longer needed, and whether the log may still have a record of
  ///   the key that is out of date.
  mutating func fail(_ write: DiskWrite) -> (files: [UInt64], leavesRecord: Bool) {
    if let file = write.file { consequence.files.append(file.number) }
    guard let slot = slot(of: write.hash) else {
      return (takeConsequence().files, write.outdatesRecord)
    }
    var leavesRecord = false
    switch detach(write, from: slot) {
    case nil: break  // a later write of the key replaces the record
    case false?:
      let next = pending[slot].map { $0.earlier.first ?? $0.latest }
      if write.outdatesRecord { next?.outdatesRecord = true }
    case true?:
      let hasRecord = !locations[slot].isNowhere
      // A removal of everything may have come between the record and the write.
      let isOutdated = write.outdatesRecord || revisions[slot] < writes.removalOfAll
      leavesRecord = write.outdatesRecord || hasRecord && isOutdated
      if hasRecord, !isOutdated { reweigh(slot) } else { _ = drop(slot) }
    }
    return (takeConsequence().files, leavesRecord)
  }

  private mutating func reweigh(_ slot: Slot) {
    let cost = DiskLimits.cost(
      recordSize: Int(locations[slot].size), large: largeValues[slot]?.count ?? 0)
    if cost != order.weight(of: slot) { order.reweighed(slot, weight: cost) }
  }

  /// Records the location of a copy of a record, if that is still needed.
  mutating func move(_ hash: KeyHash, from old: RecordLocation, to new: RecordLocation) {
    guard let slot = slot(of: hash), holds(hash, at: old) else { return }
    locations[slot] = new
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
