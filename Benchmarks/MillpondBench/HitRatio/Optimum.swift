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

  /// Returns the number of hits at a capacity of that many values.
  ///
  /// - Complexity: O(*n* log *n*) for *n* accesses.
  func hits(capacity: Int) -> Int {
    // A kept key is represented by the place of its next access, which will be a hit. Past places
    // may stay in the heap: they are smaller than all later ones, so they are never on top while
    // anything is kept.
    var isHit = Array(repeating: false, count: next.count)
    var keptPlaces = MaxHeap()
    var (kept, hits) = (0, 0)
    for (place, next) in next.enumerated() {
      if isHit[place] {
        hits += 1
        kept -= 1
      }
      guard next < isHit.count else { continue }
      keptPlaces.insert(next)
      isHit[next] = true
      kept += 1
      if kept > capacity, let latest = keptPlaces.removeMax() {
        isHit[latest] = false
        kept -= 1
      }
    }
    return hits
  }
}
