/// How many values wait in each lane, which lanes still run, and what follows from it.
package struct LanesRule: Sendable {
  package let use: LaneUse
  private var waiting: ContiguousArray<Int>
  private var empty: Int
  private var isClosed: [Bool]
  private var running: Int

  /// How many lanes are closed and empty.
  private var usedUp = 0
  private var progress: [SignalProgress]
  private var together = ProgressSum()

  package init(lanes count: Int, _ use: LaneUse) {
    self.use = use
    waiting = ContiguousArray(repeating: 0, count: count)
    empty = count
    isClosed = Array(repeating: false, count: count)
    running = count
    progress = Array(repeating: SignalProgress(completed: 0), count: count)
    for one in progress { together.add(one) }
  }

  /// Whether nothing can be joined any more: all lanes are closed, or one that is empty.
  package var isUsedUp: Bool {
    running == 0 || usedUp > 0
  }

  /// Counts a value; true if there is one of each lane now, so that they are to be joined.
  package mutating func arrived(in lane: Int) -> Bool {
    let before = waiting[lane]
    if before == 0 { empty -= 1 }
    if before == 0 || use == .usingUp { waiting[lane] = before + 1 }
    guard empty == 0 else { return false }
    if use == .usingUp { takeOneOfEach() }
    return true
  }

  /// Notes the end of a lane.
  package mutating func close(_ lane: Int) {
    isClosed[lane] = true
    running -= 1
    if waiting[lane] == 0 { usedUp += 1 }
    // What is closed has nothing left to do, so its total is what it did.
    if progress[lane].total == nil {
      let completed = progress[lane].completed
      _ = sum(with: SignalProgress(completed: completed, total: completed), of: lane)
    }
  }

  /// Notes the progress of a lane; what all of them have done together.
  package mutating func sum(with new: SignalProgress, of lane: Int) -> SignalProgress {
    together.remove(progress[lane])
    together.add(new)
    progress[lane] = new
    return together.progress
  }

  private mutating func takeOneOfEach() {
    // In one go, which spares the optimiser checks for each lane.
    let before = empty
    waiting.withUnsafeMutableBufferPointer { waiting in
      for lane in waiting.indices {
        waiting[lane] -= 1
        if waiting[lane] == 0 { empty += 1 }
      }
    }
    // While all run, none can be used up.
    if running < waiting.count, empty > before {
      usedUp = waiting.indices.count { isClosed[$0] && waiting[$0] == 0 }
    }
  }
}

/// What becomes of values that were joined.
@usableFromInline
package enum LaneUse: Sendable {
  /// Each is joined once.
  case usingUp

  /// The latest of each lane is joined again and again.
  case keepingLatest
}
