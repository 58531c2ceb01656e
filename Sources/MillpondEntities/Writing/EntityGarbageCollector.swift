import MillpondCore
import MillpondSignals

/// A collector that finds and drops unused entities, and lets readers in between.
///
/// It takes the lock for a few hundred nodes at a time. The writer has the turn, so references stay
/// as they are, and only the collector stores or removes. Other threads can observe, retain and
/// query, which only brings more entities into use.
struct EntityGarbageCollector {
  private let core: EntityCore

  /// The time after which a touch counts as recent use.
  private let cutoff: Int64

  init(_ core: EntityCore, cutoff: Int64) {
    self.core = core
    self.cutoff = cutoff
  }

  /// Drops all entities without use since the cutoff; returns objects to release.
  func prune() -> [any Sendable] {
    find()
    return drop()
  }

  /// Finds the entities in use: those that are observed, retained, queried or recently used, and
  /// those below them.
  func find() {
    var place = core.beginKeeping()
    while place > 0 {
      let start = max(0, place - Commit.stepSize)
      core.tables.withLock { $0.keepUsed(in: start..<place, since: cutoff) }
      core.onStep?()
      place = start
    }
    while core.tables.withLock({ $0.graph.follow(atMost: Commit.stepSize) }) { core.onStep?() }
  }

  /// Drops all others; returns objects to release.
  func drop() -> [any Sendable] {
    var released: [any Sendable] = []
    var place = core.tables.withLock { $0.graph.nodes.count }
    while place > 0 {
      _ = core.drop(&released) { $0.takeUnused(before: &place) }
    }
    core.endKeeping()
    if core.tables.withLock({ $0.takeIsSparse() }) { core.shrink() }
    return released
  }
}

extension EntityCore {
  /// Begins to find the entities in use; returns the number of nodes.
  func beginKeeping() -> Int {
    let kept = ChunkedArray(repeating: false, count: tables.withLock { $0.graph.nodes.count })
    endKeeping()
    return tables.withLock { tables in
      tables.graph.beginKeeping(kept)
      tables.collection.hasDepartures = false
      return tables.graph.nodes.count
    }
  }

  /// Forgets which entities are in use.
  func endKeeping() {
    let released = tables.withLock { $0.graph.isKeeping ? $0.graph.endKeeping() : nil }
    withExtendedLifetime(released) {}  // released here, not under the lock
  }

  /// Drops the entities that `choose` returns, in a step; returns their number.
  ///
  /// Entities that have come into use meanwhile are kept first.
  ///
  /// - Parameters:
  ///   - released: Collects objects to release after the turn.
  ///   - choose: Returns stored entities that are not in use.
  func drop(
    _ released: inout [any Sendable], _ choose: (inout EntityTables) -> [NodeNumber]
  ) -> Int {
    var commit = Commit(now: time.now())
    var count: Int?
    while count == nil {
      count = withLock { tables, observers in
        if tables.graph.follow(atMost: Commit.stepSize) { return nil }
        let nodes = choose(&tables)
        tables.drop(nodes, &commit)
        if !commit.notices.isEmpty { observers.queue(commit.notices) }
        tables.endReferring(&commit)
        return nodes.count
      }
      onStep?()
    }
    forgetLoose(&commit)
    released += commit.released
    return count ?? 0
  }

  /// The greatest number of entities that are dropped under one hold of the lock.
  static var dropCount: Int { 64 }
}

extension EntityTables {
  /// Keeps the entities in a range of nodes that are in use: observed or retained, of a type that
  /// a query may show, or touched after `cutoff`.
  mutating func keepUsed(in numbers: Range<Int>, since cutoff: Int64) {
    let queried = tables.map(\.isQueried)
    for number in numbers where graph.nodes[number].table != ReferenceGraph.none {
      let node = graph.nodes[number]
      let table = Int(node.table)
      if node.isWatched || node.isRetained || node.isStored && queried[table] {
        graph.keep(NodeNumber(number))
      } else if node.isStored, cutoff < .max, rowFunctions[table].use(node.row).touched > cutoff {
        graph.keep(NodeNumber(number))
      }
    }
  }

  /// Returns a few stored entities that are not kept, from `place` down, which it lowers.
  fileprivate func takeUnused(before place: inout Int) -> [NodeNumber] {
    var unused: [NodeNumber] = []
    let end = max(0, place - 4 * EntityCore.dropCount)
    while place > end, unused.count < EntityCore.dropCount {
      place -= 1
      if graph.nodes[place].isStored, !graph.kept[place] { unused.append(NodeNumber(place)) }
    }
    return unused
  }

  /// Empties the rows of entities, and removes their references.
  fileprivate mutating func drop(_ nodes: [NodeNumber], _ commit: inout Commit) {
    var rows: [Int: [Int32]] = [:]
    for number in nodes {
      let node = graph.nodes[Int(number)]
      rows[Int(node.table), default: []].append(node.row)
      commit.loose += graph.disconnect(number)
      commit.loose.append(number)
      setStored(number, false)
    }
    for (table, rows) in rows {
      let (released, notices) = rowFunctions[table].empty(rows)
      commit.released.append(released)
      commit.notices += notices
    }
  }
}
