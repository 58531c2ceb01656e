import MillpondCore

extension DiskIndex {
  /// Loads the records found in the log, in its order; the latest record of a key counts.
  mutating func load(_ hash: KeyHash, _ location: RecordLocation, _ value: FileValue?) {
    guard let slot = slot(of: hash) else {
      if hashes.count >= Self.greatestCount { return }
      restore(hash, location, value)
      return slots.insert(hash.bits, Slot(hashes.count) - 1)
    }
    order.reweighed(
      slot, weight: DiskLimits.cost(recordSize: Int(location.size), large: value?.count ?? 0))
    liveBytes -= Int(locations[slot].size)
    if let old = largeValues.removeValue(forKey: slot) { largeBytes -= old.count }
    place(location, value, slot)
  }

  /// Restores a key that is not in the index; ``findRestored()`` makes it findable.
  mutating func restore(_ hash: KeyHash, _ location: RecordLocation, _ value: FileValue?) {
    let slot = Slot(hashes.count)
    hashes.append(hash)
    locations.append(.nowhere)
    order.restored(
      slot, hash.bits,
      weight: DiskLimits.cost(recordSize: Int(location.size), large: value?.count ?? 0))
    place(location, value, slot)
  }

  /// Makes all entries findable that were restored; there must be no others.
  mutating func findRestored() {
    let hashes = hashes
    slots.insert(0..<Slot(hashes.count)) { hashes[$0].bits }
  }

  mutating func place(_ location: RecordLocation, _ value: FileValue?, _ slot: Slot) {
    locations[slot] = location
    liveBytes += Int(location.size)
    guard let value else { return }
    largeValues[slot] = value
    largeBytes += value.count
  }

  mutating func unload(_ hash: KeyHash) {
    if let slot = slot(of: hash) { _ = drop(slot) }
  }

  mutating func unloadAll(sparing survivors: Set<LogPosition> = []) {
    dropAll(slots(where: { !survivors.contains(locations[$0].position) }))
  }

  /// The files of entries whose records are at a position or after it.
  func files(from position: LogPosition) -> Set<UInt64> {
    Set(largeValues.filter { locations[$0.key].position >= position }.map(\.value.number))
  }

  /// Drops entries whose file is missing.
  ///
  /// Those above the limit, if it was lowered, stay until the next set: it may be that of a cache
  /// that must keep what it has.
  ///
  /// - Returns: The files that are needed.
  mutating func finishLoading(files: Set<UInt64>) -> Set<UInt64> {
    for (slot, value) in largeValues where !files.contains(value.number) { _ = drop(slot) }
    consequence = Consequence()
    return Set(largeValues.values.map(\.number))
  }
}
