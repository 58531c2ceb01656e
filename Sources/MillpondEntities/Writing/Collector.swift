import MillpondCore
import MillpondSignals

/// Finds what is not in use, and drops it, while others read: the lock is taken for some thousand
/// nodes at a time.
///
/// That is sound because the writer has the turn meanwhile: who refers to whom stays as it is, and
/// nothing is stored or removed but by the collector. What others do, to observe, retain and query,
/// just brings more into use: it is noted in ``CollectorState/arrivals``, and gone through before
/// anything is dropped.
struct Collector {
  private let core: EntityCore

  /// What counts as unused was not touched since.
  private let cutoff: Int64

  private var unused: [(node: NodeNumber, use: EntityUse)] = []
  private var waiting: [NodeNumber] = []

  init(_ core: EntityCore, cutoff: Int64) {
    self.core = core
    self.cutoff = cutoff
  }

  /// Drops what was not used for so long.
  mutating func prune() -> [any Sendable] {
    survey()
    return drop(.max)
  }

  /// Drops the least recently used, until there is some room again.
  ///
  /// An eighth more than has to go, so that it need not be found out each time what is in use.
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

  /// Goes through all there is, and all that is below what is in use.
  mutating func survey() {
    var place = core.tables.withLock { $0.beginCollecting() }
    while place > 0 {
      let start = max(0, place - Self.stride)
      core.tables.withLock { $0.survey(start..<place, cutoff, &unused, &waiting) }
      place = start
    }
    while !waiting.isEmpty {
      core.tables.withLock { $0.graph.pass(below: &waiting, atMost: Self.stride) }
    }
  }

  /// Drops so many of those that nobody has come to use; gives what is to be released.
  mutating func drop(_ count: Int) -> [any Sendable] {
    var released: [any Sendable] = []
    var (place, left) = (0, count)
    while place < unused.count, left > 0 {
      let part = unused[place..<min(unused.count, place + Self.stride)]
      place += part.count
      var commit = Commit(now: core.time.now())
      left -= core.withLock { tables, observers in
        let dropped = tables.drop(part, atMost: left, &commit)
        if !commit.notices.isEmpty { observers.announce(commit.notices) }
        tables.finish(&commit)
        return dropped
      }
      released += commit.released
    }
    core.tables.withLock { $0.endCollecting() }
    return released
  }

  private static let stride = 2_048
}

extension EntityTables {
  /// - Returns: How many nodes there are to be surveyed.
  fileprivate mutating func beginCollecting() -> Int {
    graph.beginPassage()
    collection.isCollecting = true
    return graph.nodes.count
  }

  fileprivate mutating func endCollecting() {
    collection.isCollecting = false
    collection.arrivals = []
    shrink()
  }

  /// Lists what is stored and was not touched since `cutoff`; what is in use begins to be passed.
  ///
  /// In use is what is observed or retained, what a query may show, and what was touched since.
  fileprivate mutating func survey(
    _ numbers: Range<Int>, _ cutoff: Int64,
    _ unused: inout [(node: NodeNumber, use: EntityUse)], _ waiting: inout [NodeNumber]
  ) {
    let queried = tables.map(\.isQueried)
    for number in numbers where graph.nodes[number].table != Graph.none {
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

  /// Empties nodes that nobody observes, not even from above; gives how many.
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
