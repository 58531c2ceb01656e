import MillpondCore

/// The index of the keys, their records, and the pending writes; it makes decisions and touches no
/// file.
///
/// Pure; its owner locks, and releases dropped objects after the unlock.
struct DiskIndex: Sendable {
  let costLimit: Int
  var slots = SlotIndex()
  var order: PolicyOrder
  var writes = WriteOrder<KeyHash>()

  // These have an element for every slot.
  var hashes = ChunkedArray<KeyHash>()
  var locations = ChunkedArray<RecordLocation>()

  /// The last writes of entries that were written in this run.
  var revisions = SparseArray(common: Revision.none)

  /// The pending writes by slot; a record at the slot's location is the value before.
  var pending = SparseArray<PendingWrites?>(common: nil)
  var pendingCount = 0

  var largeValues: [Slot: FileValue] = [:]
  var leases: [UInt64: Int] = [:]

  /// The files that only their leases keep from removal.
  var removedAfterLease: Set<UInt64> = []

  /// The bytes of all records that are needed.
  var liveBytes = 0

  /// The bytes of the large values that have, or will have, files.
  var largeBytes = 0

  var statistics = DiskStatistics()

  /// The consequences of the present change, which takes them at its end.
  var consequence = Consequence()

  /// The greatest number of entries: a slot has 32 bits.
  static let greatestCount = 1 << 30

  init(costLimit: Int, _ policy: EvictionPolicy) {
    self.init(costLimit: costLimit, PolicyOrder(policy, isWeighted: true))
  }

  /// Creates an index without entries.
  ///
  /// - Parameters:
  ///   - costLimit: The greatest cost of all entries.
  ///   - order: An order without entries.
  init(costLimit: Int, _ order: PolicyOrder) {
    self.costLimit = costLimit
    self.order = order
  }

  var count: Int { slots.count }

  var totalCost: Int { order.totalWeight }
}

/// The writes of an entry that are not on disk yet.
struct PendingWrites: Sendable {
  var latest: DiskWrite

  /// The earlier ones that are written before, in their order.
  ///
  /// They are those that the writer has, and those that a write of a group follows. The last one is
  /// the stored value if the latest one fails.
  var earlier: [DiskWrite] = []
}

extension DiskIndex {
  /// The consequences of a change.
  struct Consequence: Sendable {
    /// Whether the change is to be written; if not, it came too late and nothing else is to be
    /// done.
    var isToBeWritten = false

    /// Whether the index has the value.
    var isKept = false

    /// For a change that came too late: the pending write that replaces what it would have
    /// removed, and whose outcome it has.
    var replacing: DiskWrite?

    /// The unwritten write that this one replaces.
    var superseded: DiskWrite?

    /// The writes whose entries were evicted or removed.
    var evicted: [DiskWrite] = []

    // What the store does after the unlock.

    /// The files that are not needed any more.
    var files: [UInt64] = []

    /// The values that are not written any more, to be released.
    var dropped: [DiskWrite.Content] = []

    /// Memory that is not needed any more, to be released.
    var former: (any Sendable)?

    /// Whether the writer has to be woken.
    var wakesWriter = false
  }
}

// MARK: - Looking up

extension DiskIndex {
  /// Returns the entry, and counts this as a use.
  mutating func find(_ hash: KeyHash) -> IndexedValue? {
    guard let slot = slot(of: hash) else {
      order.missed(hash.bits)
      return nil
    }
    order.used(slot, hash.bits)
    return finding(slot)
  }

  /// Returns the entry without counting this as a use.
  func peek(_ hash: KeyHash) -> IndexedValue? { slot(of: hash).map { finding($0) } }

  /// Whether the entry of a key was last written before `revision`.
  func isOlder(_ hash: KeyHash, than revision: Revision) -> Bool {
    slot(of: hash).map { self.revision(of: $0) < revision } ?? false
  }

  /// Whether the latest record of the key is at this location.
  func holds(_ hash: KeyHash, at location: RecordLocation) -> Bool {
    guard let slot = slot(of: hash) else { return false }
    return locations[slot].position == location.position && !locations[slot].isNowhere
  }

  func finding(_ slot: Slot) -> IndexedValue {
    if let writes = pending[slot] { .write(writes.latest) } else { .location(locations[slot]) }
  }

  func slot(of hash: KeyHash) -> Slot? {
    // Captured alone: the closure would copy the whole index.
    let hashes = hashes
    return slots.find(hash.bits) { hashes[$0] == hash }
  }

  /// Returns slots with entries, in the order of eviction.
  func slots(where isIncluded: (Slot) -> Bool) -> [Slot] {
    var slots: [Slot] = []
    order.forEach { if isIncluded($0) { slots.append($0) } }
    return slots
  }

  /// An entry with a record.
  struct Entry: Sendable {
    let hash: KeyHash
    let location: RecordLocation
    let largeValue: FileValue?

    /// Its last write in this run.
    let revision: Revision
  }

  /// The entries with records, in the order of eviction.
  ///
  /// - Complexity: O(*n*).
  var entries: ContiguousArray<Entry> {
    var entries: ContiguousArray<Entry> = []
    entries.reserveCapacity(count)
    order.forEach { slot in
      let location = locations[slot]
      if location.isNowhere { return }
      entries.append(
        Entry(
          hash: hashes[slot], location: location,
          largeValue: largeValues.isEmpty ? nil : largeValues[slot], revision: revisions[slot]))
    }
    return entries
  }
}
