import MillpondCore
import MillpondSignals

/// A collector that finds and drops unused entities, and lets readers in between.
///
/// It takes the lock for a few hundred nodes at a time. That is sound because the writer has the
/// turn: references stay as they are, and only the collector stores or removes. Other threads can
/// observe, retain and query, which only brings more entities into use; these are recorded in
/// ``CollectorState/arrivals``, and passed before anything is dropped.
struct EntityGarbageCollector {
  private let core: EntityCore

  /// The time after which a touch counts as recent use.
  private let cutoff: Int64

  private var unused: [(node: NodeNumber, use: EntityUse)] = []
  private var waiting: [NodeNumber] = []

  init(_ core: EntityCore, cutoff: Int64) {
    self.core = core
    self.cutoff = cutoff
  }

  /// Drops all entities without use since the cutoff.
  mutating func prune() -> [any Sendable] {
    survey()
    return drop(.max)
  }

  /// Drops the least recently used entities until there is room.
  ///
  /// It drops an eighth of the limit more than necessary, so that the survey is not repeated for
  /// each write.
  mutating func makeRoom() -> [any Sendable] {
    survey()
    unused.sort { $0.use < $1.use }
    let limit = max(0, core.countLimit)
    let released = drop(core.count - limit + limit / 8)
    core.tables.withLock { tables in
      let count = tables.storedCount
      tables.collection.crowd = count > limit ? count + max(64, count / 8) : 0
    }
    return released
  }

  /// Surveys all nodes, and passes those below entities in use.
  mutating func survey() {
    var place = core.tables.withLock { $0.beginCollecting() }
    while place > 0 {
      let start = max(0, place - Self.stride)
      unused.makeRoom(for: Self.stride)
      waiting.makeRoom(for: Self.stride)
      core.tables.withLock { $0.survey(start..<place, cutoff, &unused, &waiting) }
      core.onStep?()
      place = start
    }
    while !waiting.isEmpty {
      waiting.makeRoom(for: 4 * Self.stride)
      core.tables.withLock { $0.graph.pass(below: &waiting, atMost: Self.stride) }
      core.onStep?()
    }
  }

  /// Drops up to `count` of the entities that are still unused; returns objects to release.
  mutating func drop(_ count: Int) -> [any Sendable] {
    var released: [any Sendable] = []
    var (place, left) = (0, count)
    while place < unused.count, left > 0 {
      let part = unused[place..<min(unused.count, place + Self.stride)]
      place += part.count
      var commit = Commit(now: core.time.now())
      left -= core.withLock { tables, observers in
        let dropped = tables.drop(part, atMost: left, &commit)
        if !commit.notices.isEmpty { observers.queue(commit.notices) }
        tables.endReferring(&commit)
        return dropped
      }
      core.onStep?()
      core.forgetLoose(&commit)
      released += commit.released
    }
    if core.tables.withLock({ $0.endCollecting() }) { core.shrink() }
    return released
  }

  private static let stride = 256
}

extension EntityTables {
  /// - Returns: The number of nodes to survey.
  fileprivate mutating func beginCollecting() -> Int {
    graph.beginPassage()
    collection.isCollecting = true
    return graph.nodes.count
  }

  /// - Returns: Whether to give memory back.
  fileprivate mutating func endCollecting() -> Bool {
    collection.isCollecting = false
    collection.arrivals = []
    return takeIsSparse()
  }

  /// Lists stored entities that were not touched since `cutoff`, and starts to pass those in use.
  ///
  /// An entity is in use if it is observed or retained, if a query may show it, or if it was
  /// touched since.
  fileprivate mutating func survey(
    _ numbers: Range<Int>, _ cutoff: Int64,
    _ unused: inout [(node: NodeNumber, use: EntityUse)], _ waiting: inout [NodeNumber]
  ) {
    let queried = tables.map(\.isQueried)
    for number in numbers where graph.nodes[number].table != ReferenceGraph.none {
      let node = graph.nodes[number]
      let isRoot = node.isWatched || node.isRetained || (queried[Int(node.table)] && node.isStored)
      let use = isRoot || !node.isStored ? nil : tables[Int(node.table)].use(of: node.row)
      if let use, use.touched <= cutoff {
        unused.append((NodeNumber(number), use))
      } else if isRoot || node.isStored {
        graph.pass(NodeNumber(number), &waiting)
      }
    }
  }

  /// Empties the candidates that the walk has not passed; returns their number.
  fileprivate mutating func drop(
    _ candidates: ArraySlice<(node: NodeNumber, use: EntityUse)>, atMost count: Int,
    _ commit: inout Commit
  ) -> Int {
    var waiting: [NodeNumber] = []
    for node in collection.arrivals { graph.pass(node, &waiting) }
    collection.arrivals = []
    graph.pass(below: &waiting, atMost: .max)
    var rows: [Int: [Int32]] = [:]
    var dropped = 0
    for (number, _) in candidates where dropped < count && !graph.wasPassed(number) {
      let node = graph.nodes[Int(number)]
      rows[Int(node.table), default: []].append(node.row)
      commit.loose += graph.disconnect(number)
      commit.loose.append(number)
      setStored(number, false)
      dropped += 1
    }
    for (table, rows) in rows {
      let (released, notices) = tables[table].empty(rows)
      commit.released.append(released)
      commit.notices += notices
    }
    return dropped
  }
}
