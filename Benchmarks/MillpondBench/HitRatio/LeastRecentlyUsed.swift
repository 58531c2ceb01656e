/// The least recently used cache, as the measure of others.
///
/// A textbook version for traces only; it shares no code with the measured caches.
struct LeastRecentlyUsed {
  private let limit: Limit

  /// The key of each access so far; those before `oldest` are not the last ones of their keys, or
  /// their keys are dropped.
  private var accesses: [Int] = []
  private var oldest = 0

  /// The last access of each stored key and the size of its value; nil for others.
  private var stored: [(access: Int, size: Int)?]
  private var count = 0
  private var bytes = 0

  /// - Parameter keyCount: The number of different keys.
  init(_ limit: Limit, keyCount: Int) {
    self.limit = limit
    stored = Array(repeating: nil, count: keyCount)
  }

  /// Returns whether the key is stored, and makes it the newest.
  ///
  /// An absent key is inserted unless it is larger than the whole capacity.
  mutating func isHit(_ access: Trace.Access) -> Bool {
    defer { accesses.append(access.number) }
    if stored[access.number] != nil {
      stored[access.number]?.access = accesses.count
      return true
    }
    guard limit.admits(count: 1, bytes: access.size) else { return false }
    while !limit.admits(count: count + 1, bytes: bytes + access.size) { dropOldest() }
    count += 1
    bytes += access.size
    stored[access.number] = (accesses.count, access.size)
    return false
  }

  private mutating func dropOldest() {
    while stored[accesses[oldest]]?.access != oldest { oldest += 1 }
    let victim = accesses[oldest]
    count -= 1
    bytes -= stored[victim]?.size ?? 0
    stored[victim] = nil
  }
}
