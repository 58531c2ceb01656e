import MillpondCore

extension DiskIndex {
  /// What a telling comes to.
  struct Consequence: Sendable {
    /// Whether it is to be written; else it came too late, and nothing is to be done.
    var isToBeWritten = false

    /// What it takes the place of, that is not written yet.
    var superseded: Told?

    /// Files that are not needed any more.
    var files: [UInt64] = []

    /// What had to go before it was written.
    var evicted: [Told] = []
  }

  /// Keeps what was told, unless something later has been told.
  mutating func set(_ telling: Told, cost: Int) -> Consequence {
    let slot = slot(of: telling.hash)
    guard admits(telling, slot) else { return Consequence() }
    return keep(telling, cost: cost, slot)
  }

  /// Keeps what a lower layer gave, unless its key was written to since the token was drawn.
  mutating func fill(_ telling: Told, cost: Int, _ token: FillToken) -> Consequence {
    guard writes.admit(token, hash: telling.hash.whole) else { return Consequence() }
    let slot = slot(of: telling.hash)
    // The last write of the key stays what it was.
    if let slot { telling.revision = revision(of: slot) }
    return keep(telling, cost: cost, slot)
  }

  private mutating func admits(_ telling: Told, _ slot: Slot?) -> Bool {
    writes.admit(
      telling.hash, hash: telling.hash.whole, telling.revision,
      over: slot.map { revision(of: $0) } ?? .none)
  }

  /// Remembers the last write of a key of which there will be no entry.
  mutating func remember(_ hash: KeyHash, _ revision: Revision) {
    writes.remember(hash, revision)
    _ = writes.takeForgotten()  // hashes, and no objects of users
  }

  /// Drops what was told before.
  ///
  /// It is written also where there is no entry: one may have gone for room, and lie there still.
  mutating func remove(_ telling: Told) -> Consequence {
    let slot = slot(of: telling.hash)
    var consequence = Consequence()
    guard admits(telling, slot) else { return consequence }
    remember(telling.hash, telling.revision)
    if let slot { supersede(drop(slot, &consequence), &consequence) }
    consequence.isToBeWritten = true
    return consequence
  }

  /// Drops everything that was told before; false if a later removal of everything came first.
  mutating func removeAll(_ revision: Revision, _ consequence: inout Consequence) -> Bool {
    guard writes.admitAll(revision) else { return false }
    _ = writes.takeForgotten()
    consequence.isToBeWritten = true
    dropAll(slots(where: { self.revision(of: $0) <= revision }), &consequence)
    return true
  }

  /// Drops all that lies on disk: it is there no more.
  mutating func forgetAllSpots(_ consequence: inout Consequence) {
    dropAll(slots(where: { telling(of: $0) == nil }), &consequence)
    liveBytes = 0
    for slot in slots(where: { _ in true }) {
      spots[slot] = .nowhere
      dropLargeValue(slot, &consequence)
    }
  }

  func slots(where isIncluded: (Slot) -> Bool) -> [Slot] {
    var slots: [Slot] = []
    order.forEach { if isIncluded($0) { slots.append($0) } }
    return slots
  }

  mutating func dropAll(_ slots: [Slot], _ consequence: inout Consequence) {
    for slot in slots {
      if let telling = drop(slot, &consequence) { consequence.evicted.append(telling) }
    }
  }

  mutating func keep(_ telling: Told, cost: Int, _ slot: Slot?) -> Consequence {
    var consequence = Consequence()
    consequence.isToBeWritten = true
    guard cost <= costLimit, slot != nil || count < Self.greatestCount,
      makeRoom(for: telling.hash, cost, besides: slot, &consequence)
    else {
      statistics.rejections += 1
      if telling.revision > .none { remember(telling.hash, telling.revision) }
      if let slot = self.slot(of: telling.hash) {
        supersede(drop(slot, &consequence), &consequence)
      }
      // A value that can't be kept is written as its key's removal.
      telling.isVoid = true
      return consequence
    }
    statistics.insertions += 1
    if let slot = self.slot(of: telling.hash) {
      supersede(takeTelling(slot), &consequence)
      put(telling, slot)
      if let old = consequence.superseded { overtake(old, by: telling, slot) }
      order.reweighed(slot, weight: cost)
      order.used(slot, telling.hash.bits)
    } else {
      put(telling, add(telling.hash, cost))
    }
    largeBytes += telling.largeLength
    return consequence
  }

  /// Notes what a telling takes the place of: a file that was streamed for it, and of which no record
  /// will tell, is not needed any more.
  func supersede(_ old: Told?, _ consequence: inout Consequence) {
    consequence.superseded = old
    if let old, !old.isTaken, let file = old.file { consequence.files.append(file.number) }
  }
}

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
