/// The greatest possible number of hits at a capacity, with knowledge of all later accesses.
///
/// The key whose next access is the latest is dropped, even if it is the one just accessed.
///
/// - Source: Belady 1966, with bypass.
struct Optimum {
  /// The place of the next access of each access's key; past the end if there is none.
  private let next: [Int]

  /// - Complexity: O(*n*) for *n* accesses.
  init(of keys: [UInt64]) {
    var next = Array(repeating: keys.count, count: keys.count)
    var later: [UInt64: Int] = [:]
    for (place, key) in keys.enumerated().reversed() {
      next[place] = later.updateValue(place, forKey: key) ?? keys.count
    }
    self.next = next
  }

  /// Returns the number of hits at a capacity of that many values, at least one.
  ///
  /// A kept key is represented by the place of its next access, which will be a hit.
  func hits(capacity: Int) -> Int {
    var isKept = Array(repeating: false, count: next.count)
    var (kept, latest, hits) = (0, 0, 0)
    for (place, next) in next.enumerated() {
      if isKept[place] {
        hits += 1
        kept -= 1
      }
      guard next < isKept.count, kept < capacity || next < latest else { continue }
      if kept == capacity { isKept[latest] = false } else { kept += 1 }
      isKept[next] = true
      latest = max(latest, next)
      while !isKept[latest] { latest -= 1 }
    }
    return hits
  }
}
