/// The least recently used cache, as the measure of others.
///
/// A textbook version for traces only; it shares no code with the measured caches.
struct LeastRecentlyUsed {
  private struct Slot {
    /// The size of the value; negative if none is stored.
    var size = -1
    var older = -1
    var newer = -1
  }

  private let limit: Limit
  private var slots: [Slot]
  private var newest = -1
  private var oldest = -1
  private var count = 0
  private var bytes = 0

  /// - Parameter keyCount: The number of different keys.
  init(_ limit: Limit, keyCount: Int) {
    self.limit = limit
    slots = Array(repeating: Slot(), count: keyCount)
  }

  /// Returns whether the key is stored, and makes it the newest.
  ///
  /// An absent key is inserted unless it is larger than the whole capacity.
  mutating func isHit(_ access: Trace.Access) -> Bool {
    let isKept = slots[access.number].size >= 0
    if isKept {
      unlink(access.number)
      linkAsNewest(access.number)
    } else {
      keep(access)
    }
    return isKept
  }

  private mutating func keep(_ access: Trace.Access) {
    guard limit.admits(count: 1, bytes: access.size) else { return }
    while !limit.admits(count: count + 1, bytes: bytes + access.size) { dropOldest() }
    count += 1
    bytes += access.size
    slots[access.number].size = access.size
    linkAsNewest(access.number)
  }

  private mutating func dropOldest() {
    let victim = oldest
    unlink(victim)
    count -= 1
    bytes -= slots[victim].size
    slots[victim].size = -1
  }

  private mutating func unlink(_ number: Int) {
    let (older, newer) = (slots[number].older, slots[number].newer)
    if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    if newer >= 0 { slots[newer].older = older } else { newest = older }
  }

  private mutating func linkAsNewest(_ number: Int) {
    slots[number].older = newest
    slots[number].newer = -1
    if newest >= 0 { slots[newest].newer = number } else { oldest = number }
    newest = number
  }
}
