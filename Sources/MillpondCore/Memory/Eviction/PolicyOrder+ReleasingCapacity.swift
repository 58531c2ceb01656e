extension PolicyOrder {
  /// Whether so few of the slots are in use that some are to be given up.
  @inlinable package var isSparse: Bool { nodes.isSparse }

  /// Gives up the last slot; its entry, if it has one, moves to a free slot first.
  ///
  /// - Returns: The last slot, and the new slot of its entry; the same if it had none.
  package mutating func removeLastSlot() -> (last: Slot, place: Slot) {
    let last = Slot(nodes.count) - 1
    let place = isFree(last) ? last : nextSlot
    if place != last {
      states[place] = states[last]
      withList(states[last]) { $0.move(last, to: place, in: &$1) }
    }
    nodes.removeLast()
    states.removeLast()
    if isAdaptive { shrinkSketch() }
    return (last, place)
  }

  private mutating func shrinkSketch() {
    if states.count.isMultiple(of: ChunkedArray<UInt8>.chunkLength) {
      sketch.shrink(toEntries: states.count)
    } else if sketch.due == 0 {
      // Without other uses the change of size would not end.
      sketch.work()
    }
  }
}
