import MillpondCore
import MillpondSignals

/// The collection of unused entities, which lets readers in between.
///
/// It takes the lock for a few hundred nodes at a time. The writer has the turn, so references stay
/// as they are, and only the collection stores or removes. Other threads can observe, retain and
/// query, which only brings more entities into use.
extension EntityCore {
  /// Drops all entities without use since `cutoff`, with the turn; returns objects to release after
  /// it.
  func collectUnused(since cutoff: Int64) -> [any Sendable] {
    findUsed(since: cutoff)
    return dropUnused()
  }

  /// Finds the entities in use: those that are observed, retained, queried or touched after
  /// `cutoff`, and those below them.
  func findUsed(since cutoff: Int64) {
    var place = beginKeeping()
    while place > 0 {
      let start = max(0, place - Commit.stepSize)
      tables.withLock { $0.keepUsed(in: start..<place, since: cutoff) }
      onStep?()
      place = start
    }
    while tables.withLock({ $0.graph.follow(atMost: Commit.stepSize) }) { onStep?() }
  }

  /// Drops all others; returns objects to release.
  func dropUnused() -> [any Sendable] {
    var released: [any Sendable] = []
    var place = tables.withLock { $0.graph.nodes.count }
    while place > 0 {
      _ = drop(&released) { $0.takeUnused(before: &place) }
    }
    endKeeping()
    if tables.withLock({ $0.takeIsSparse() }) { shrink() }
    return released
  }

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
    tables.discard { $0.graph.isKeeping ? $0.graph.endKeeping() : nil }
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
    let queried = tables.indices.map { tables[$0].isQueried() }
    for number in numbers where graph.nodes[number].table != ReferenceGraph.none {
      let node = graph.nodes[number]
      let table = Int(node.table)
      if node.isWatched || node.isRetained || node.isStored && queried[table] {
        graph.keep(NodeNumber(number))
      } else if node.isStored, cutoff < .max, tables[table].use(node.row).touched > cutoff {
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
      let (released, notices) = tables[table].empty(rows)
      commit.released.append(released)
      commit.notices += notices
    }
  }
}
