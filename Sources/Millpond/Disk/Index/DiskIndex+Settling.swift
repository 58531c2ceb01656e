import MillpondCore

/// Changes of the index after writes that have reached the disk, or have failed.
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
    failRenewals(of: write)
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
      // A removal of everything may have come between the record and the write.
      let isOutdated = write.outdatesRecord || revisions[slot] < writes.removalOfAll
      if hasRecord, isOutdated { mayLeaveRecord = true }
      if hasRecord, !isOutdated { reweigh(slot) } else { _ = drop(slot) }
    }
    return (takeConsequence().files, mayLeaveRecord)
  }

  /// Lets the renewals of a value that could not be written fail with it: they would store it after
  /// all.
  private mutating func failRenewals(of write: DiskWrite) {
    let slot = write.slot
    guard slot >= 0, let later = pending[slot], later.underway === write, later.isRenewal,
      later.superseded.allSatisfy({ $0.isRenewal })
    else { return }
    _ = takePending(slot)
    later.isGivenUp = true
    later.underway = nil
    write.superseded += later.superseded + [later]
    later.superseded = []
    put(write, slot)
    largeBytes += write.largeLength
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
