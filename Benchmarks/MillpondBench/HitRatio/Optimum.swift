/// The hits that no cache of so many values can surpass, because it knows what will be asked.
///
/// What will be asked for again latest is dropped, and not even kept if it is the one just asked
/// for.
///
/// - Source: Belady 1966, with bypass.
struct Optimum {
  /// Of each access, the place of the next one of its key; past the end where there is none.
  private let next: [Int]

  /// - Complexity: O(*n*) for *n* accesses.
  init(of trace: Trace) {
    let end = trace.numbers.count
    var next = Array(repeating: end, count: end)
    var later = Array(repeating: end, count: trace.keyCount)
    for place in trace.numbers.indices.reversed() {
      next[place] = later[trace.numbers[place]]
      later[trace.numbers[place]] = place
    }
    self.next = next
  }

  /// How many accesses are hits if that many values can be kept.
  ///
  /// - Complexity: O(*n* log *n*) for *n* accesses.
  func hits(capacity: Int) -> Int {
    // A kept key is known by the place of its next access, which will then be a hit. Places that
    // have gone by need not leave the heap: they are smaller than all that are to come, so they are
    // never on top while anything is kept.
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
