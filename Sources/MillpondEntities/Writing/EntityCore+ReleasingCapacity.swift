import MillpondCore
import MillpondSignals

/// The return of memory after large removals, and of marks after the departure of many observers,
/// in steps between which the lock is free.
///
/// This thread has the turn, so nothing is stored or removed meanwhile. Rows and nodes are complete
/// after each step. Edges and marks are not; so until they are, no other thread removes a node or
/// sets marks.
extension EntityCore {
  /// Gives memory back where most of it is vacant.
  @usableFromInline
  func shrink() {
    for table in tables.withLock({ tables in tables.tables.filter(\.isSparse) }) {
      var released: (any Sendable)?
      inSteps { tables, count in
        let step = table.shrink(&tables.graph, atMost: count)
        released = step.released
        return step.goesOn
      }
      withExtendedLifetime(released) {}  // released here, not under the lock
    }
    guard tables.withLock({ $0.graph.isSparse }) else { return }
    let former = tables.withLock { $0.graph.takeIfEmpty() }
    withExtendedLifetime(former) {}  // released here, not under the lock
    if former == nil { shrinkGraph() }
  }

  private func shrinkGraph() {
    tables.withLock { tables in
      tables.isReferring = true
      tables.graph.isWalked = true
    }
    var numbers = MovedNodes()
    inSteps { $0.giveUpNodes(atMost: $1, &numbers) }
    let former = tables.withLock { $0.graph.takeEdges() }
    forEachRange { $0.unlinkSources(of: $1) }
    forEachRange { $0.rebuildEdges(in: $1, from: former) { numbers.present($0) } }
    var commit = Commit(now: time.now())
    tables.withLock { $0.endReferring(&commit) }
    forgetLoose(&commit)
    endWalk()
    withExtendedLifetime(commit.released) {}  // released here, not under the lock
  }

  /// Calls `body` with the graph and all nodes, a range at a time.
  private func forEachRange(_ body: (inout ReferenceGraph, Range<Int>) -> Void) {
    var start = 0
    inSteps { tables, count in
      body(&tables.graph, start..<start + count)
      start += count
      return start < tables.graph.nodes.count
    }
  }

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
