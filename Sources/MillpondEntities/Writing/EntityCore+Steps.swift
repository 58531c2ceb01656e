import MillpondCore
import MillpondSignals

/// Work after a commit, in steps between which the lock is free.
///
/// This thread has the turn, so nothing is stored or removed meanwhile.
extension EntityCore {
  /// Sets all marks anew if many may be stale.
  func remark() {
    let isDue = withLock { tables, observers in
      guard observers.isRemarkDue(tables) else { return false }
      observers.departures = 0
      tables.graph.isWalked = true
      tables.graph.beginMarking()
      return true
    }
    guard isDue else { return }
    var (marking, start) = (ReferenceGraph.Marking(), 0)
    inSteps { tables, count in
      var left = count
      while left > 0 {
        if tables.graph.mark(&marking, &left) { return true }
        guard start < tables.graph.nodes.count else { return false }
        tables.begin(&marking, at: NodeNumber(start))
        start += 1
        left -= 1
      }
      return true
    }
    endWalk()
  }

  /// Lets marks be set again, and sets those that had to wait.
  func endWalk() {
    inSteps { tables, count in
      if tables.markPostponed(atMost: count) { return true }
      tables.graph.isWalked = false
      return false
    }
  }

  /// Removes the nodes that nothing needs any more.
  func forgetLoose(_ commit: inout Commit) {
    commit.released.reserveCapacity(commit.released.count + commit.loose.count)
    // Makes the list unique here, since the first removal would copy all of it under the lock.
    commit.loose.reserveCapacity(commit.loose.count)
    inSteps { tables, count in
      let former = commit.loose.count
      let goesOn = tables.forgetLoose(&commit, atMost: count)
      tables.longestStep = max(tables.longestStep, former - commit.loose.count)
      return goesOn
    }
  }

  /// Calls `body` under the lock, until it returns false.
  ///
  /// - Parameter body: Does up to `count` steps; returns whether there are more.
  func inSteps(_ body: (inout EntityTables, _ count: Int) -> Bool) {
    while tables.withLock({ body(&$0, Commit.stepSize) }) { onStep?() }
    onStep?()
  }
}
