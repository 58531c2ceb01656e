import MillpondCore

/// The entities in use, and the removal of others: the least recently used beyond the limit, or all
/// that were not used for a while.
extension EntityTables {
  /// Whether entities are to be evicted.
  @inlinable
  var isCrowded: Bool {
    storedCount > limit.threshold
  }

  /// Evicts the least recently used of the entities that are not in use.
  @usableFromInline
  mutating func evict(_ commit: inout Commit) {
    var unused = unused(since: .max).map { EvictionCandidate(node: $0, use: use(of: $0)) }
    let count = min(unused.count, limit.surplus(of: storedCount))
    unused.moveLeast(count)
    drop(unused[..<count].map(\.node), &commit)
    limit.evicted(to: storedCount)
  }

  /// Returns the nodes of the stored entities that are not in use: neither observed, retained, of a
  /// type that a query shows, nor touched after `cutoff`; and no such entity refers to them.
  mutating func unused(since cutoff: Int64) -> [NodeNumber] {
    let queried = tables.indices.map { tables[$0].isQueried() }
    var (roots, unused): ([NodeNumber], [NodeNumber]) = ([], [])
    for number in 0..<NodeNumber(graph.nodes.count) {
      let node = graph.nodes[number]
      if node.table == ReferenceGraph.none { continue }
      let isUsed = cutoff < .max && node.isStored && use(of: number).touched > cutoff
      let isShown = node.isStored && queried[Int(node.table)]
      if node.isWatched || node.isRetained || isShown || isUsed { roots.append(number) }
    }
    graph.pass(below: roots)
    for number in 0..<NodeNumber(graph.nodes.count)
    where graph.nodes[number].isStored && !graph.isPassed(number) { unused.append(number) }
    return unused
  }

  private func use(of number: NodeNumber) -> EntityUse {
    let node = graph.nodes[Int(number)]
    return tables[Int(node.table)].use(node.row)
  }

  /// Empties the rows of entities, and removes their references.
  mutating func drop(_ nodes: [NodeNumber], _ commit: inout Commit) {
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

/// An entity that may be evicted, and its last use.
private struct EvictionCandidate: Comparable {
  let node: NodeNumber
  let use: EntityUse

  static func < (left: EvictionCandidate, right: EvictionCandidate) -> Bool {
    left.use < right.use
  }
}

extension Array where Element: Comparable {
  /// Moves the `count` least elements to the front, in any order.
  ///
  /// - Source: quickselect, Hoare's algorithm 65.
  /// - Complexity: O(*n*) on average.
  fileprivate mutating func moveLeast(_ count: Int) {
    var (first, last) = (0, self.count - 1)
    while first < last, count > 0 {
      let pivot = self[(first + last) / 2]
      var (low, high) = (first, last)
      while low <= high {
        while self[low] < pivot { low += 1 }
        while pivot < self[high] { high -= 1 }
        if low <= high {
          swapAt(low, high)
          (low, high) = (low + 1, high - 1)
        }
      }
      if count - 1 <= high {
        last = high
      } else if count - 1 >= low {
        first = low
      } else {
        return
      }
    }
  }
}
