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
    graph.beginMarking()
    graph.mark(below: watches.keys)
    for table in tables.indices where depths[table] > 0 { mark(below: table) }
  }

  /// Marks the entities of a table, and what they refer to.
  @usableFromInline
  mutating func mark(below table: Int) {
    var roots: [NodeNumber] = []
    forEachStored(in: table) { roots.append($0.node) }
    graph.mark(below: roots)
  }

  // MARK: Notices

  /// Whether the changed nodes of a commit matter to any subscriber.
  @usableFromInline
  var isObserved: Bool {
    !watches.isEmpty || depths.contains { $0 > 0 }
  }

  /// Queues the notices of a commit: one for each affected observer, then those for subscribers of
  /// types, and then those for its end.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - causes: Returns references to the changed entities, in the order of their nodes.
  @usableFromInline
  mutating func queueNotices(of commit: Commit, _ causes: () -> [AnyReference]) {
    var listed: [(number: NodeNumber, distance: Int)] = []
    if !commit.changed.isEmpty {
      let limit = watches.isEmpty ? depths.max() ?? 0 : .max
      let found = graph.noticing(commit.changed, depths, limit: limit)
      queueObserverNotices(of: found.watched, commit.changed, causes)
      listed = found.listed
    }
    if commit.isAnnounced || !listed.isEmpty { queueTypeNotices(of: listed, commit.isSilent) }
  }

  /// Queues the notices for the subscribers of types, and for the copies of the store.
  private mutating func queueTypeNotices(
    of listed: [(number: NodeNumber, distance: Int)], _ isSilent: Bool
  ) {
    var related: [[(row: Int32, distance: Int)]] = tables.map { _ in [] }
    for (number, distance) in listed {
      let node = graph.nodes[Int(number)]
      related[Int(node.table)].append((node.row, distance))
    }
    let notices = zip(tables, related).flatMap { $0.takeNotices($1, isSilent) }
    if notices.isEmpty { return }
    observers.notices += notices
    observers.notices += observers.commitListeners.map { Notice(for: $0, $1) }
  }

  /// Queues the notices for the observers of entities that a commit concerns, in the order of their
  /// arrival, with the values of this commit.
  private mutating func queueObserverNotices(
    of found: [NodeNumber], _ changed: [NodeNumber], _ causes: () -> [AnyReference]
  ) {
    if found.isEmpty { return }
    let first = observers.notices.count
    for (node, causes) in zip(found, graph.causes(of: found, among: changed, causes())) {
      let row = graph.nodes[Int(node)].row
      watches[node]?.forEach { observers.notices.append($0.notice(row, causes)) }
    }
    if found.count > 1 { observers.notices[first...].sort { $0.number < $1.number } }
  }
}
