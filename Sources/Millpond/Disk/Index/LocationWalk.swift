import MillpondCore

/// A walk through the entries with records, in the order of eviction, in steps between which the
/// index may change, so that no get waits for the whole walk.
///
/// An entry that stays is visited once; one that is used meanwhile may be visited later than its
/// place was. A walk has to be ended: until then no memory of the index is given back.
struct LocationWalk {
  private var last: Slot?
  private var isInOrder = true
  private var isVisited = SparseArray(common: false)
  private var rest = 0
  private var end = 0
  private var clearCount: Int?

  /// The greatest number of entries that a step visits.
  static let stepSize = 1_024

  /// An entry with a record.
  struct Entry {
    let hash: KeyHash
    let location: RecordLocation
    let largeValue: FileValue?

    /// Its last write in this run.
    let revision: Revision
  }

  /// Visits the next entries; false when there are none left.
  mutating func step(
    _ index: inout DiskIndex, count: Int = stepSize, _ body: (Entry) -> Void
  ) -> Bool {
    if clearCount == nil { begin(&index) }
    // After a removal of everything no entry from the beginning of the walk is left.
    if clearCount != index.clearCount { return false }
    for _ in 0..<count where !visitNext(index, body) {
      index.walks -= 1
      return false
    }
    return true
  }

  private mutating func begin(_ index: inout DiskIndex) {
    clearCount = index.clearCount
    end = index.hashes.count
    index.walks += 1
  }

  private mutating func visitNext(_ index: DiskIndex, _ body: (Entry) -> Void) -> Bool {
    if isInOrder {
      // An entry that has moved to the end ends this part early; the rest follows by slots.
      if let slot = index.order.next(after: last), Int(slot) < end, !isVisited[slot] {
        last = slot
        visit(slot, index, body)
        return true
      }
      isInOrder = false
    }
    guard rest < end else { return false }
    if !isVisited[Slot(rest)] { visit(Slot(rest), index, body) }
    rest += 1
    return true
  }

  private mutating func visit(_ slot: Slot, _ index: DiskIndex, _ body: (Entry) -> Void) {
    isVisited[slot] = true
    let location = index.locations[slot]
    if location.isNowhere || index.isRemoved(slot) { return }
    body(
      Entry(
        hash: index.hashes[slot], location: location, largeValue: index.largeValues[slot],
        revision: index.revisions[slot]))
  }
}
