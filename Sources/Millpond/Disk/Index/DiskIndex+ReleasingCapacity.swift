import MillpondCore
import MillpondSignals

extension DiskIndex {
  /// Gives up slots while fewer than a quarter are in use: their entries move to free ones.
  ///
  /// At the end of a change, since the change knows slots.
  mutating func shrink(atMost count: Int = shrinkingCount) {
    if walks > 0 { return }
    for _ in 0..<count where order.isSparse {
      let (last, place) = order.removeLastSlot()
      if place != last { move(last, to: place) }
      hashes.removeLast()
      locations.removeLast()
      revisions.removeAll(from: last)
      pending.removeAll(from: last)
    }
  }

  private mutating func move(_ slot: Slot, to place: Slot) {
    slots.move(hashes[slot].bits, from: slot, to: place)
    hashes[place] = hashes[slot]
    locations[place] = locations[slot]
    if revisions[slot] != .none { revisions[place] = exchange(&revisions[slot], with: .none) }
    if let write = pending[slot] {
      (pending[place], pending[slot]) = (write, nil)
      write.slot = place
      write.underway?.slot = place
    }
    if let value = largeValues.removeValue(forKey: slot) { largeValues[place] = value }
  }

  /// The greatest number of slots that are given up after a change: more than four, so that this
  /// keeps pace with removals.
  private static let shrinkingCount = 16
}
