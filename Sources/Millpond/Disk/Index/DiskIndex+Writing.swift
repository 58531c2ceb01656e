import MillpondCore

extension DiskIndex {
  /// Notes that a record of `telling` lies at `spot` now.
  mutating func settle(_ telling: Told, at spot: Spot, _ files: inout [UInt64]) {
    var consequence = Consequence()
    defer { files += consequence.files }
    guard telling.slot >= 0 else {
      if let file = telling.file { consequence.files.append(file.number) }
      return
    }
    let slot = telling.slot
    let isOvertaken = endUnderway(telling, slot)
    if !isOvertaken { _ = takeTelling(slot) }
    dropLargeValue(slot, &consequence)
    if let file = telling.file {
      largeValues[slot] = file
      largeBytes += file.count
    }
    liveBytes += Int(spot.size) - Int(spots[slot].size)
    spots[slot] = spot
    while revisions.count <= Int(slot) { revisions.append(.none) }
    revisions[slot] = telling.revision
    if isOvertaken { return }
    // A sealed value may be larger than it was.
    let cost = DiskLimits.cost(recordSize: Int(spot.size), large: telling.file?.count ?? 0)
    if cost != order.weight(of: slot) { order.reweighed(slot, weight: cost) }
  }

  /// Whether something later has been told for the entry, which has no more to wait for then.
  func endUnderway(_ telling: Told, _ slot: Slot) -> Bool {
    guard let later = self.telling(of: slot), later !== telling else { return false }
    later.underway = nil
    telling.slot = -1
    return true
  }

  /// Forgets what could not be written: what was there before is there again.
  mutating func fail(_ telling: Told, _ files: inout [UInt64]) {
    if let file = telling.file { files.append(file.number) }
    guard telling.slot >= 0 else { return }
    let slot = telling.slot
    if endUnderway(telling, slot) { return }
    _ = takeTelling(slot)
    if spots[slot].isNowhere {
      var consequence = Consequence()
      _ = drop(slot, &consequence)
      files += consequence.files
    } else {
      let length = largeValues[slot].map(\.count) ?? 0
      order.reweighed(
        slot, weight: DiskLimits.cost(recordSize: Int(spots[slot].size), large: length))
    }
  }

  /// Notes that a record has been copied, if it is still needed.
  mutating func move(_ hash: KeyHash, from old: Spot, to new: Spot) {
    guard let slot = slot(of: hash), holds(hash, at: old) else { return }
    spots[slot].segment = new.segment
    spots[slot].offset = new.offset
  }

  /// Forgets a record that turned out to be bad, or too old; false if it was another one.
  mutating func forget(_ hash: KeyHash, at spot: Spot, _ files: inout [UInt64]) -> Bool {
    guard let slot = slot(of: hash), spots[slot] == spot, telling(of: slot) == nil else {
      return false
    }
    var consequence = Consequence()
    _ = drop(slot, &consequence)
    files += consequence.files
    return true
  }
}

extension DiskIndex {
  /// Forgets what lies in a segment that is no more.
  mutating func forget(segment: UInt32, _ files: inout [UInt64]) {
    var consequence = Consequence()
    for slot in slots(where: { spots[$0].segment == segment && !spots[$0].isNowhere }) {
      if telling(of: slot) == nil {
        _ = drop(slot, &consequence)
      } else {
        liveBytes -= Int(spots[slot].size)
        spots[slot] = .nowhere
      }
    }
    files += consequence.files
  }
}
