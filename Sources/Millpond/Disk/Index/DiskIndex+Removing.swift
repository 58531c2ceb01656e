import MillpondCore

extension DiskIndex {
  /// Whether the entry in a slot is removed, and only waits to be dropped.
  func isRemoved(_ slot: Slot) -> Bool {
    removed.map { revision(of: slot) < $0.revision } ?? false
  }

  /// Whether the entry in a slot has this key, and is not removed.
  func holds(_ hash: KeyHash, in slot: Slot) -> Bool {
    hashes[slot] == hash && !isRemoved(slot)
  }

  /// Removes the entries that were last written before a revision, and leaves them to be dropped.
  mutating func leaveRemoved(before revision: Revision) {
    if removed == nil { walks += 1 }
    let latest = max(revision, removed?.revision ?? .none)
    removed = RemovedEntries(
      revision: latest, isAll: newest <= latest, end: Slot(hashes.count))
  }

  /// Drops all entries at once if all of them are removed, and few have pending writes or large
  /// values.
  mutating func clearIfPossible() {
    guard removed?.isAll == true, pendingCount <= RemovedEntries.pendingCount,
      largeValues.count <= RemovedEntries.largeCount
    else { return }
    clear()
  }

  /// Drops removed entries, and then gives up their slots, a step at a time.
  ///
  /// - Parameter count: The greatest number of slots to examine or to give up.
  /// - Returns: Whether there are more.
  mutating func dropRemoved(atMost count: Int = RemovedEntries.stepSize) -> Bool {
    guard let removed else {
      shrink(atMost: count)
      return order.isSparse && walks == 0
    }
    let start = max(0, removed.end - Slot(count))
    for slot in start..<removed.end where !order.isFree(slot) && isRemoved(slot) {
      if let write = drop(slot) { consequence.evicted.append(write) }
    }
    self.removed?.end = start
    if start == 0 {
      self.removed = nil
      walks -= 1
    } else {
      clearIfPossible()
    }
    return true
  }
}
