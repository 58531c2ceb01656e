import MillpondCore

/// The keys, the places of their records, and the writes that are not on disk yet: decides, and touches
/// no file.
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

  // A place in each for the slots up to the last one that was written to in this run.
  var revisions = Column<Revision>()

  /// The writes on their way; the record at the spot, if there is one, is what was before.
  var pending: ContiguousArray<DiskWrite?> = []

  var freeSlots: [Slot] = []
  var largeValues: [Slot: LargeValue] = [:]
  var leases: [UInt64: Int] = [:]

  /// Files that are needed only by their leases.
  var doomed: Set<UInt64> = []

  /// The bytes of all records that are needed.
  var liveBytes = 0

  /// The bytes of the large values that are in files or soon will be.
  var largeBytes = 0

  var statistics = DiskStatistics()

  /// Collects the consequences of one change, which takes them at its end.
  var consequence = Consequence()

  /// The most entries: a slot has 32 bits.
  static let greatestCount = 1 << 30

  init(costLimit: Int, _ policy: EvictionPolicy) {
    self.costLimit = costLimit
    order = PolicyOrder(policy, isWeighted: true)
  }

  var count: Int { slots.count }

  var totalCost: Int { order.totalWeight }
}

extension DiskIndex {
  /// The things to be done because of a change.
  struct Consequence: Sendable {
    /// Whether the change is to be written; else it came too late, and nothing is to be done.
    var isToBeWritten = false

    /// The write that it replaces before that was written.
    var superseded: DiskWrite?

    var files: [UInt64] = []

    /// Writes whose entries were evicted or removed.
    var evicted: [DiskWrite] = []
  }
}

// MARK: - Looking up

extension DiskIndex {
  /// The place of a key's value.
  enum Finding: Sendable {
    case write(DiskWrite)
    case spot(Spot)
  }

  /// Returns the entry, which counts as used.
  mutating func find(_ hash: KeyHash) -> Finding? {
    guard let slot = slot(of: hash) else {
      order.missed(hash.bits)
      return nil
    }
    order.used(slot, hash.bits)
    return finding(slot)
  }

  /// Returns the entry, which does not count as used.
  func peek(_ hash: KeyHash) -> Finding? { slot(of: hash).map { finding($0) } }

  /// Whether the newest record of the key lies there.
  func holds(_ hash: KeyHash, at spot: Spot) -> Bool {
    guard let slot = slot(of: hash) else { return false }
    return spots[slot].position == spot.position && !spots[slot].isNowhere
  }

  func finding(_ slot: Slot) -> Finding {
    if let write = pending(of: slot) { .write(write) } else { .spot(spots[slot]) }
  }

  func slot(of hash: KeyHash) -> Slot? {
    // Captured by itself: all of this would be copied for the closure.
    let hashes = hashes
    return slots.find(hash.bits) { hashes[$0] == hash }
  }

  /// The slots of the entries with a record in a segment.
  func slots(in segment: UInt32) -> [Slot] {
    slots { spots[$0].segment == segment && !spots[$0].isNowhere }
  }

  func slots(where isIncluded: (Slot) -> Bool) -> [Slot] {
    var slots: [Slot] = []
    order.forEach { if isIncluded($0) { slots.append($0) } }
    return slots
  }
}

// MARK: - Leases

extension DiskIndex {
  /// Keeps the file of a large value from being removed; false if it is not there any more.
  mutating func lease(_ hash: KeyHash, _ value: LargeValue) -> Bool {
    guard let slot = slot(of: hash), largeValues[slot]?.number == value.number else { return false }
    lease(value.number)
    order.used(slot, hash.bits)
    return true
  }

  /// Keeps a file from being removed that is about to be written, whatever becomes of the write.
  mutating func lease(_ number: UInt64) { leases[number, default: 0] += 1 }

  /// Leases files that were lent before the index was made; those that no entry needs go at the end.
  mutating func leaseAgain(_ numbers: Set<UInt64>) {
    for number in numbers { lease(number) }
    doomed = numbers.subtracting(largeValues.values.map(\.number))
  }

  /// Returns the files without a lease; the others go when they are given back.
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
