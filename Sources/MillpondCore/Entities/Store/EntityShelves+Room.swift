import MillpondSignals

extension EntityShelves {
  /// Drops what is not in use, the least recently used first, until there is some room again.
  ///
  /// An eighth more than has to go, so that it need not be found out each time what is in use.
  mutating func makeRoom(_ countLimit: Int, _ commit: inout Commit) {
    let limit = max(0, countLimit)
    guard storedCount > limit, storedCount > crowd else { return }
    let unused = unused(untouchedSince: .max).sorted { $0.use < $1.use }
    drop(unused.prefix(storedCount - limit + limit / 8).map(\.node), &commit)
    crowd = storedCount > limit ? storedCount + max(64, storedCount / 8) : 0
  }

  /// Drops what is not in use, and was not touched for so long.
  mutating func prune(unusedFor age: Duration, _ commit: inout Commit) {
    let cutoff = age <= .zero ? .max : CoarseTime.birth(of: age, commit.now)
    drop(unused(untouchedSince: cutoff).map(\.node), &commit)
    finish(&commit)
  }

  /// What is stored and was not touched since, and can't be reached from what is in use.
  ///
  /// In use is what is observed or retained, what a query may show, and what was touched since.
  private mutating func unused(
    untouchedSince cutoff: Int64
  ) -> [(node: NodeNumber, use: EntityUse)] {
    let queried = tables.map(\.isQueried)
    var uses: [(node: NodeNumber, use: EntityUse)] = []
    var roots: [NodeNumber] = []
    for (number, node) in graph.nodes.enumerated() where node.table != Graph.none {
      let isRoot = node.isWatched || node.isRetained || (queried[Int(node.table)] && node.isStored)
      let use = isRoot || !node.isStored ? nil : tables[Int(node.table)].use(of: node.row)
      if let use, use.touched <= cutoff {
        uses.append((NodeNumber(number), use))
      } else if isRoot || node.isStored {
        roots.append(NodeNumber(number))
      }
    }
    graph.passAll(below: roots)
    return uses.filter { !graph.wasPassed($0.node) }
  }

  /// Empties nodes that nobody observes, not even from above.
  private mutating func drop(_ nodes: [NodeNumber], _ commit: inout Commit) {
    var rows: [Int: [Int32]] = [:]
    for node in nodes {
      rows[Int(graph.nodes[Int(node)].table), default: []].append(graph.nodes[Int(node)].row)
      commit.loose += graph.disconnect(node)
      commit.loose.append(node)
      setStored(node, false)
    }
    for (table, rows) in rows {
      for row in rows { tables[table].rememberTelling(of: row, in: &removals) }
      let (released, notices) = tables[table].empty(rows)
      commit.released.append(released)
      commit.notices += notices
    }
  }
}
