import MillpondCore

/// Which keys there are, where their records lie, and what has been told but does not lie there yet:
/// decides, and touches no file.
///
/// Pure; its owner locks, and releases what is dropped after the unlock.
struct DiskIndex: Sendable {
  let costLimit: Int
  var slots = SlotIndex()
  var order: PolicyOrder
  var writes = WriteOrder<KeyHash>()

  // A place in each for every slot.
  var hashes = Column<KeyHash>()
  var spots = Column<Spot>()

  // A place in each for the slots up to the last one that was told of in this run.
  var revisions = Column<Revision>()

  /// What is on its way; the record at the spot, if there is one, is what was before.
  var tellings: ContiguousArray<Told?> = []

  var freeSlots: [Slot] = []
  var largeValues: [Slot: LargeValue] = [:]
  var leases: [UInt64: Int] = [:]

  /// Files that nobody needs but those who hold them.
  var doomed: Set<UInt64> = []

  /// What all records that are needed take in the log.
  var liveBytes = 0

  /// What the large values take, that are or soon will be in files.
  var largeBytes = 0

  var statistics = DiskStatistics()

  /// No more are taken in: a slot has 32 bits.
  static let greatestCount = 1 << 30

  init(costLimit: Int, _ policy: EvictionPolicy) {
    self.costLimit = costLimit
    order = PolicyOrder(policy, isWeighted: true)
  }

  var count: Int {
    slots.count
  }

  /// What all entries count for against the limit.
  var totalCost: Int {
    order.totalWeight
  }
}

// MARK: - Asking

extension DiskIndex {
  /// Where the value of a key is.
  enum Finding: Sendable {
    case told(Told)
    case spot(Spot)
  }

  /// The entry, which counts as used.
  mutating func find(_ hash: KeyHash) -> Finding? {
    guard let slot = slot(of: hash) else {
      order.missed(hash.bits)
      return nil
    }
    order.used(slot, hash.bits)
    return finding(slot)
  }

  /// The entry, which does not count as used.
  func peek(_ hash: KeyHash) -> Finding? {
    slot(of: hash).map { finding($0) }
  }

  /// Whether the newest record of the key lies there.
  func holds(_ hash: KeyHash, at spot: Spot) -> Bool {
    guard let slot = slot(of: hash) else { return false }
    return spots[slot].segment == spot.segment && spots[slot].offset == spot.offset
      && !spots[slot].isNowhere
  }

  func finding(_ slot: Slot) -> Finding {
    if let telling = telling(of: slot) { .told(telling) } else { .spot(spots[slot]) }
  }

  func slot(of hash: KeyHash) -> Slot? {
    // Captured by itself: all of this would be copied for the closure.
    let hashes = hashes
    return slots.find(hash.bits) { hashes[$0] == hash }
  }

  mutating func count(_ change: (inout DiskStatistics) -> Void) {
    change(&statistics)
  }
}

extension DiskIndex {
  /// Keeps the file of a large value from being removed; false if it is not there any more.
  mutating func lease(_ hash: KeyHash, _ value: LargeValue) -> Bool {
    guard let slot = slot(of: hash), largeValues[slot]?.number == value.number else {
      return false
    }
    leases[value.number, default: 0] += 1
    order.used(slot, hash.bits)
    return true
  }

  /// Keeps a file that is about to be told of from being removed, whatever becomes of that.
  mutating func lease(_ number: UInt64) {
    leases[number, default: 0] += 1
  }

  /// Leases files that were lent before the index was made; those that no entry needs go at the end.
  mutating func leaseAgain(_ numbers: Set<UInt64>) {
    for number in numbers { lease(number) }
    doomed = numbers.subtracting(largeValues.values.map(\.number))
  }

  /// Those of the files that nobody holds; the others go when they are given back.
  mutating func free(of files: [UInt64]) -> [UInt64] {
    files.filter { number in
      if leases[number] == nil { return true }
      doomed.insert(number)
      return false
    }
  }

  /// Gives a lease back; true if the file is not needed any more.
  mutating func giveBack(_ number: UInt64) -> Bool {
    guard let count = leases[number] else { return false }
    leases[number] = count > 1 ? count - 1 : nil
    return count == 1 && doomed.remove(number) != nil
  }
}
