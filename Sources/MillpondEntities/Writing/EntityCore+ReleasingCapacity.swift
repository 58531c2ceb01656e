import MillpondCore
import MillpondSignals

/// The return of memory after large removals, in steps between which the lock is free.
///
/// This thread has the turn, so nothing is stored or removed meanwhile. Rows and nodes are complete
/// after each step. Edges and marks are not; so until they are, no other thread removes a node or
/// sets marks.
extension EntityCore {
  /// Gives memory back where most of it is vacant.
  @usableFromInline
  func shrink() {
    cancelEviction()
    for table in tables.withLock({ $0.sparseTables }) {
      var released: (any Sendable)?
      inSteps { tables, count in
        let step = tables.tables[table].shrink(&tables.graph, count)
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
    forEachRange { $0.rebuildEdges(in: $1, from: former.edges) { numbers.present($0) } }
    var commit = Commit(now: time.now())
    tables.withLock { $0.endReferring(&commit) }
    forgetLoose(&commit)
    endWalk()
    withExtendedLifetime((former, commit.released)) {}  // released here, not under the lock
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
}
