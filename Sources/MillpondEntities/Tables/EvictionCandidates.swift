/// An entity that may be evicted, and its last use when it was chosen.
struct EvictionCandidate: Sendable {
  let node: NodeNumber
  let use: EntityUse
}

/// The least recently used of all candidates that are offered, up to a number.
///
/// - Complexity: O(log *n*) in that number for each candidate, and for each step of the sort.
struct LeastRecentlyUsed: Sendable {
  /// The candidates: first a heap with the most recently used on top, then the sorted ones.
  private var candidates: [EvictionCandidate] = []
  private var heapCount = 0
  private let limit: Int

  init(atMost limit: Int) {
    self.limit = limit
  }

  /// Adds a candidate, unless it was used more recently than enough others.
  mutating func offer(_ candidate: EvictionCandidate) {
    if candidates.count < limit {
      candidates.append(candidate)
      heapCount += 1
      rise()
    } else if let latest = candidates.first, candidate.use < latest.use {
      candidates[0] = candidate
      sink()
    }
  }

  /// Sorts for up to `count` steps, after all have been offered; returns whether there are more.
  mutating func sort(atMost count: Int) -> Bool {
    for _ in 0..<count where heapCount > 1 {
      heapCount -= 1
      candidates.swapAt(0, heapCount)
      sink()
    }
    return heapCount > 1
  }

  /// The sorted candidates, the least recently used first.
  var sorted: [EvictionCandidate] {
    candidates
  }

  private mutating func rise() {
    var place = heapCount - 1
    while place > 0 {
      let parent = (place - 1) / 2
      if candidates[place].use <= candidates[parent].use { return }
      candidates.swapAt(place, parent)
      place = parent
    }
  }

  private mutating func sink() {
    var place = 0
    while true {
      var child = 2 * place + 1
      guard child < heapCount else { return }
      if child + 1 < heapCount, candidates[child].use < candidates[child + 1].use { child += 1 }
      if candidates[child].use <= candidates[place].use { return }
      candidates.swapAt(place, child)
      place = child
    }
  }
}

/// The candidates in the order in which they are tried; and those that were found used since they
/// were chosen, which are taken only if there are no others.
struct EvictionQueue: Sendable {
  private var candidates: ArraySlice<EvictionCandidate> = []
  private var used: ArraySlice<EvictionCandidate> = []

  init(_ candidates: [EvictionCandidate] = []) {
    self.candidates = candidates[...]
  }

  var count: Int {
    candidates.count + used.count
  }

  var isEmpty: Bool {
    count == 0
  }

  /// Whether there is a candidate that was not found used.
  var hasNext: Bool {
    !candidates.isEmpty
  }

  /// Takes the next candidate; nil if there are no others.
  mutating func next() -> EvictionCandidate? {
    candidates.popFirst()
  }

  mutating func nextUsed() -> EvictionCandidate? {
    used.popFirst()
  }

  mutating func putBack(_ candidates: [EvictionCandidate]) {
    used += candidates
  }
}
