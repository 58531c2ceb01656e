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
    passUsed(since: .max)
    var unused: [EntityUse] = []
    unused.reserveCapacity(storedCount)
    for table in tables.indices {
      forEachStored(in: table) { if !graph.isPassed($0.node) { unused.append($0) } }
    }
    let count = min(unused.count, limit.surplus(of: storedCount))
    unused.moveLeast(count)
    drop(unused[..<count].map(\.node), &commit)
    limit.evicted(to: storedCount)
  }

  /// Drops the entities that are not in use.
  mutating func dropUnused(since cutoff: Int64, _ commit: inout Commit) {
    passUsed(since: cutoff)
    let nodes = NodeNumber(0)..<NodeNumber(graph.nodes.count)
    drop(nodes.filter { graph.nodes[$0].isStored && !graph.isPassed($0) }, &commit)
  }

  /// Passes the entities in use: those that are observed, retained, of a type that a query shows, or
  /// touched after `cutoff`; and those that they refer to.
  private mutating func passUsed(since cutoff: Int64) {
    var roots = Array(watches.keys) + Array(retains.keys)
    for table in tables.indices {
      let isQueried = tables[table].isQueried()
      if cutoff == .max, !isQueried { continue }
      forEachStored(in: table) {
        if isQueried || $0.touched > cutoff { roots.append($0.node) }
      }
    }
    _ = graph.pass(below: roots)
  }

  /// Calls `body` with the use of each stored entity of a table.
  func forEachStored(in table: Int, _ body: (EntityUse) -> Void) {
    tables[table].forEachUse { if graph.nodes[$0.node].isStored { body($0) } }
  }

  /// Empties the rows of entities, and removes their references.
  private mutating func drop(_ nodes: [NodeNumber], _ commit: inout Commit) {
    var rows: [[Int32]] = tables.map { _ in [] }
    for number in nodes {
      let node = graph.nodes[Int(number)]
      rows[Int(node.table)].append(node.row)
      graph.disconnect(number, &commit.loose)
      commit.loose.append(number)
      setStored(number, false)
    }
    for table in tables.indices where !rows[table].isEmpty {
      tables[table].empty(rows[table], &commit)
    }
  }
}

extension [EntityUse] {
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
