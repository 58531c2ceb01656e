import MillpondCore

/// A walk through what lies in the log, those first that would go first, in steps between which the index
/// may change: so no get waits for all of it.
///
/// An entry that stays is visited once; one that is used meanwhile may come later than its place was.
struct SpotWalk {
  private var last: Slot?
  private var isInOrder = true
  private var isVisited: [Bool] = []
  private var rest = 0

  /// The greatest number of entries that a step visits.
  static let stepSize = 1_024

  /// Visits the next entries; false when there are no more.
  mutating func step(
    _ index: DiskIndex, count: Int = stepSize, _ body: (KeyHash, Spot, LargeValue?) -> Void
  ) -> Bool {
    if last == nil, isInOrder { isVisited = Array(repeating: false, count: index.hashes.count) }
    for _ in 0..<count {
      if isInOrder {
        // An entry that has moved to the end ends this part too early; the rest follows by slots.
        guard let slot = index.order.next(after: last), Int(slot) < isVisited.count,
          !isVisited[Int(slot)]
        else {
          isInOrder = false
          continue
        }
        last = slot
        visit(slot, index, body)
      } else {
        guard rest < isVisited.count else { return false }
        if !isVisited[rest] { visit(Slot(rest), index, body) }
        rest += 1
      }
    }
    return true
  }

  private mutating func visit(
    _ slot: Slot, _ index: DiskIndex, _ body: (KeyHash, Spot, LargeValue?) -> Void
  ) {
    isVisited[Int(slot)] = true
    let spot = index.spots[slot]
    if !spot.isNowhere { body(index.hashes[slot], spot, index.largeValues[slot]) }
  }
}
