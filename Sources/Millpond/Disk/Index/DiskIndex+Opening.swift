import MillpondCore

extension DiskIndex {
  /// Loads the records found in the log, in its order; the latest record of a key counts.
  mutating func load(_ hash: KeyHash, _ spot: RecordLocation, _ value: LargeValue?) {
    guard let slot = slot(of: hash) else {
      if hashes.count >= Self.greatestCount { return }
      restore(hash, spot, value)
      return findRestored(from: Slot(hashes.count) - 1)
    }
    order.reweighed(
      slot, weight: DiskLimits.cost(recordSize: Int(spot.size), large: value?.count ?? 0))
    liveBytes -= Int(spots[slot].size)
    if let old = largeValues.removeValue(forKey: slot) { largeBytes -= old.count }
    place(spot, value, slot)
  }

  /// Restores a key that is not in the index; ``findRestored(from:)`` makes it findable.
  mutating func restore(_ hash: KeyHash, _ spot: RecordLocation, _ value: LargeValue?) {
    let slot = grow()
    hashes.append(hash)
    spots.append(.nowhere)
    order.restored(
      slot, hash.bits,
      weight: DiskLimits.cost(recordSize: Int(spot.size), large: value?.count ?? 0))
    place(spot, value, slot)
  }

  /// Makes entries findable that were restored from this slot on.
  mutating func findRestored(from first: Slot = 0) {
    let hashes = hashes
    slots.insert(first..<Slot(hashes.count)) { hashes[$0].bits }
  }

  mutating func place(_ spot: RecordLocation, _ value: LargeValue?, _ slot: Slot) {
    spots[slot] = spot
    liveBytes += Int(spot.size)
    guard let value else { return }
    largeValues[slot] = value
    largeBytes += value.count
  }

  mutating func unload(_ hash: KeyHash) {
    if let slot = slot(of: hash) { _ = drop(slot) }
  }

  mutating func unloadAll(sparing survivors: Set<LogPosition> = []) {
    dropAll(slots(where: { !survivors.contains(spots[$0].position) }))
  }

  /// Drops entries whose file is missing, and then those above the limit.
  ///
  /// - Returns: The files that are needed.
  mutating func finishLoading(files: Set<UInt64>) -> Set<UInt64> {
    for (slot, value) in largeValues where !files.contains(value.number) { _ = drop(slot) }
    while totalCost > costLimit {
      let victims = order.chooseVictims(for: 0)
      if victims.isEmpty { break }
      for victim in CollectionOfOne(victims.first) + victims.others { _ = drop(victim) }
    }
    consequence = Consequence()
    return Set(largeValues.values.map(\.number))
  }
}

/// A walk through the entries with records, in the order of eviction, in steps between which the
/// index may change, so that no get waits for the whole walk.
///
/// An entry that stays is visited once; one that is used meanwhile may be visited later than its
/// place was.
struct LocationWalk {
  private var last: Slot?
  private var isInOrder = true
  private var isVisited: [Bool] = []
  private var rest = 0
  private var clearCount: Int?

  /// The greatest number of entries that a step visits.
  static let stepSize = 1_024

  /// Visits the next entries; false when there are none left.
  mutating func step(
    _ index: DiskIndex, count: Int = stepSize,
    _ body: (KeyHash, RecordLocation, LargeValue?) -> Void
  ) -> Bool {
    if clearCount == nil { isVisited = Array(repeating: false, count: index.hashes.count) }
    if exchange(&clearCount, with: index.clearCount) ?? index.clearCount != index.clearCount {
      // No entry from the beginning of the walk is left.
      return false
    }
    for _ in 0..<count {
      if isInOrder {
        // An entry that has moved to the end ends this part early; the rest follows by slots.
        guard let slot = index.order.next(after: last), Int(slot) < isVisited.count,
          !isVisited[Int(slot)]
        else {
          isInOrder = false
          continue
        }
        last = slot
        visit(slot, index, body)
      } else {
        guard rest < isVisited.count else { return false }
        if !isVisited[rest] { visit(Slot(rest), index, body) }
        rest += 1
      }
    }
    return true
  }

  private mutating func visit(
    _ slot: Slot, _ index: DiskIndex, _ body: (KeyHash, RecordLocation, LargeValue?) -> Void
  ) {
    isVisited[Int(slot)] = true
    let spot = index.spots[slot]
    if !spot.isNowhere { body(index.hashes[slot], spot, index.largeValues[slot]) }
  }
}
