import MillpondCore
import MillpondSignals

/// The observers of entities, and the marks that lead to them.
extension EntityTables {
  @usableFromInline
  mutating func add(_ number: Int, of node: NodeNumber, _ watch: NodeObserver) {
    watches[node, default: ObserverList()].add(watch, number)
    graph.nodes[Int(node)].isWatched = true
    graph.mark(below: CollectionOfOne(node))
  }

  /// Removes an observer, and returns objects to release after the unlock.
  @usableFromInline
  mutating func removeObserver(
    _ number: Int, of node: NodeNumber, _ now: Int64
  ) -> (watch: NodeObserver?, entity: (any Sendable)?) {
    touch(node, now)
    let watch = watches[node]?.remove(number)
    guard watches[node]?.isEmpty == true else { return (watch, nil) }
    watches[node] = nil
    graph.nodes[Int(node)].isWatched = false
    limit.depart()
    depart(1)
    return (watch, forget(node))
  }

  /// Records that entities have lost their last observer, or their list; wipes stale marks when that
  /// costs no more than the departures themselves.
  @usableFromInline
  mutating func depart(_ count: Int) {
    departures += count
    if departures > graph.markedCount / 8 { remark() }
  }

  /// Marks anew the nodes below those that are watched or listed now.
  private mutating func remark() {
    departures = 0
    graph.remark(below: watches.keys)
    let depths = depths
    for table in depths.indices.filter({ depths[$0] > 0 }).sorted(by: { depths[$0] > depths[$1] }) {
      mark(below: Int32(table), depth: depths[table])
    }
  }

  /// The greatest depth of the subscribers of each table.
  private var depths: [UInt8] {
    tables.indices.map { tables[$0].depth() }
  }

  /// Marks what the entities of a table refer to.
  ///
  /// - Parameters:
  ///   - table: The number of the table.
  ///   - depth: The number of levels of references at which changes are noticed.
  @usableFromInline
  mutating func mark(below table: Int32, depth: UInt8) {
    var roots: [NodeNumber] = []
    forEachStored(in: Int(table)) { roots.append($0.node) }
    graph.mark(below: roots, depth: depth)
  }

  // MARK: Notices

  /// Whether the changed nodes of a commit matter to any subscriber.
  @usableFromInline
  var isObserved: Bool {
    !watches.isEmpty || deepListenerCount > 0
  }

  /// Queues the notices of a commit: one for each affected observer, then those for subscribers of
  /// types, and then those for its end.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - causes: Returns references to the changed entities, in the order of their nodes.
  @usableFromInline
  mutating func queueNotices(of commit: inout Commit, _ causes: () -> [AnyReference]) {
    if !commit.changed.isEmpty {
      queueObserverNotices(of: commit.changed, causes)
      commit.notices += deepNotices(of: commit.changed)
    }
    if commit.notices.isEmpty { return }
    observers.notices += commit.notices
    observers.notices += observers.commitListeners.values
  }

  /// Queues the notices for the observers of entities that a commit concerns, in the order of their
  /// arrival, with the values of this commit.
  private mutating func queueObserverNotices(
    of changed: [NodeNumber], _ causes: () -> [AnyReference]
  ) {
    if watches.isEmpty { return }
    let found = graph.watched(above: changed)
    if found.isEmpty { return }
    let causes = graph.causes(of: found, among: changed, causes())
    if found.count == 1 {
      return addNotices(of: found[0], causes[0]) { observers.notices.append($1) }
    }
    var numbered: [(number: Int, notice: Notice)] = []
    for (node, causes) in zip(found, causes) {
      addNotices(of: node, causes) { numbered.append(($0, $1)) }
    }
    numbered.sort { $0.number < $1.number }
    for (_, notice) in numbered { observers.notices.append(notice) }
  }

  private func addNotices(
    of node: NodeNumber, _ causes: [AnyReference], _ add: (Int, @escaping Notice) -> Void
  ) {
    let row = graph.nodes[Int(node)].row
    watches[node]?.forEach { add($0, $1.notice(row, causes)) }
  }

  /// Returns the notices for queries with a depth.
  mutating func deepNotices(of changed: [NodeNumber]) -> [Notice] {
    if deepListenerCount == 0 { return [] }
    var related: [[(row: Int32, distance: Int)]] = tables.map { _ in [] }
    for (number, distance) in graph.listed(above: changed, depths) {
      let node = graph.nodes[Int(number)]
      related[Int(node.table)].append((node.row, distance))
    }
    return tables.indices.flatMap { tables[$0].deepNotices(related[$0]) }
  }
}
