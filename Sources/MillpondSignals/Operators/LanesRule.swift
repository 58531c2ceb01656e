/// How many values wait in each lane, which lanes still run, and what follows from it.
package struct LanesRule: Sendable {
  package let use: LaneUse
  private var waiting: ContiguousArray<Int>
  private var empty: Int
  private var isClosed: [Bool]
  private var running: Int
  private var progress: [SignalProgress]

  package init(lanes count: Int, _ use: LaneUse) {
    self.use = use
    waiting = ContiguousArray(repeating: 0, count: count)
    empty = count
    isClosed = Array(repeating: false, count: count)
    running = count
    progress = Array(repeating: SignalProgress(completed: 0), count: count)
  }

  /// Whether nothing can be joined any more: all lanes are closed, or one that is empty.
  package var isUsedUp: Bool {
    if running == waiting.count { return running == 0 }
    return running == 0 || zip(isClosed, waiting).contains { $0 && $1 == 0 }
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
    // What is closed has nothing left to do, so its total is what it did.
    if progress[lane].total == nil {
      let completed = progress[lane].completed
      progress[lane] = SignalProgress(completed: completed, total: completed)
    }
  }

  /// Notes the progress of a lane; what all of them have done together.
  package mutating func sum(with new: SignalProgress, of lane: Int) -> SignalProgress {
    progress[lane] = new
    return progress.reduce(SignalProgress(completed: 0, total: 0), +)
  }

  private mutating func takeOneOfEach() {
    // In one go, which spares the optimiser checks for each lane.
    waiting.withUnsafeMutableBufferPointer { waiting in
      for lane in waiting.indices {
        waiting[lane] -= 1
        if waiting[lane] == 0 { empty += 1 }
      }
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
