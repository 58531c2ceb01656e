public import MillpondCore
public import MillpondSignals

/// The subscribers of a store and their pending notices, under the lock of its tables.
@usableFromInline
struct Observers: Sendable {
  /// The observers of each entity, by number.
  @usableFromInline var watches: [NodeNumber: [Int: NodeWatch]] = [:]

  /// The closures that fail each subscriber, by number.
  @usableFromInline var failures: [Int: @Sendable (any Error) -> Void] = [:]

  /// The closures that fail the requests of optimistic writes when the store ends, by the revision
  /// of the write; and the revision of the last end.
  @usableFromInline var requests: [Revision: @Sendable () -> Void] = [:]
  @usableFromInline var endedAt = Revision.none

  /// The error of subscribers that come after the release of the store; nil before it.
  @usableFromInline var closing: (any Error)?

  /// The notices to call after all others of a commit.
  @usableFromInline var commitListeners: [Int: Notice] = [:]

  /// The pending notices, in the order of the commits.
  @usableFromInline var notices: [Notice] = []
  @usableFromInline var isDelivering = false

  /// The number of entities that have lost their last observer since the last marking.
  @usableFromInline var departures = 0
  @usableFromInline var lastNumber = 0

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  @usableFromInline
  mutating func add(
    _ watch: NodeWatch, _ number: Int, of node: NodeNumber, in tables: inout EntityTables
  ) {
    watches[node, default: [:]][number] = watch
    tables.graph.nodes[Int(node)].isWatched = true
    tables.collection.arrive(node)
    tables.graph.mark(below: CollectionOfOne(node))
  }

  /// Removes an observer, and returns objects to release after the unlock.
  @usableFromInline
  mutating func remove(
    _ number: Int, of node: NodeNumber, in tables: inout EntityTables, _ now: Int64
  ) -> (watch: NodeWatch?, entity: (any Sendable)?) {
    tables.touch(node, now)
    let watch = watches[node]?.removeValue(forKey: number)
    guard watches[node]?.isEmpty == true else { return (watch, nil) }
    watches[node] = nil
    tables.graph.nodes[Int(node)].isWatched = false
    tables.collection.depart()
    depart(1, in: &tables)
    return (watch, tables.forget(node))
  }

  /// Records that entities have lost their last observer, or their list.
  ///
  /// Stale marks are wiped when that costs no more than the departures themselves.
  @usableFromInline
  mutating func depart(_ count: Int, in tables: inout EntityTables) {
    departures += count
    if departures > tables.graph.markedCount / 8 {
      departures = 0
      tables.remark(below: watches.keys)
    }
  }

  // MARK: Notifying

  /// Takes the pending notices; returns none if another thread is already delivering.
  @usableFromInline
  mutating func takeNotices(isFirst: Bool) -> [Notice] {
    if isFirst, isDelivering { return [] }
    isDelivering = !notices.isEmpty
    defer { notices = [] }
    return notices
  }

  /// Whether the changed nodes of a commit matter to any subscriber.
  @inlinable
  func isObserved(_ tables: EntityTables) -> Bool {
    !watches.isEmpty || tables.deepListenerCount > 0
  }

  /// Queues the notices of a commit: one for each affected observer, then those for subscribers of
  /// types, and then those for its end.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - tables: The tables.
  ///   - last: The number of the last observer that has not seen the changes yet.
  ///   - causes: Returns references to the changed entities, in the order of their nodes.
  @inlinable
  mutating func announce(
    _ commit: inout Commit, in tables: inout EntityTables, upTo last: Int = .max,
    _ causes: () -> [AnyReference]
  ) {
    if !commit.changed.isEmpty {
      if !watches.isEmpty { announce(commit.changed, in: &tables.graph, upTo: last, causes) }
      if tables.deepListenerCount > 0 {
        commit.notices += tables.deepNotices(commit.changed, upTo: last)
      }
    }
    if !commit.notices.isEmpty { announce(commit.notices) }
  }

  /// Queues the notices of a commit, one for each affected observer.
  ///
  /// - Parameters:
  ///   - changed: The changed nodes.
  ///   - graph: The graph of the nodes.
  ///   - last: The number of the last observer that has not seen the changes yet.
  ///   - references: Returns the references to these nodes, in the same order.
  @usableFromInline
  mutating func announce(
    _ changed: [NodeNumber], in graph: inout Graph, upTo last: Int,
    _ references: () -> [AnyReference]
  ) {
    let found = graph.watched(above: changed)
    if found.isEmpty { return }
    let causes = causes(changed, references(), in: &graph, for: found)
    var notices: [(number: Int, notice: Notice)] = []
    for (node, causes) in zip(found, causes) {
      for (number, watch) in watches[node] ?? [:] where number <= last {
        notices.append((number, watch.notice(graph.nodes[Int(node)].row, causes)))
      }
    }
    notices.sort { $0.number < $1.number }
    self.notices += notices.map(\.notice)
  }

  /// Queues the notices for subscribers of types, and then those for the end of a commit.
  @usableFromInline
  mutating func announce(_ listenerNotices: [Notice]) {
    notices += listenerNotices
    notices += commitListeners.values
  }

  /// Returns the changes that each of `nodes` depends on; a single change concerns all.
  private func causes(
    _ changed: [NodeNumber], _ references: [AnyReference], in graph: inout Graph,
    for nodes: [NodeNumber]
  ) -> [[AnyReference]] {
    if references.count == 1 { return nodes.map { _ in references } }
    // A few observers each walk down to their causes. For many, the causes are carried up to all of
    // them, 64 at a time; a step of that takes about eight times as long.
    let blockCount = (changed.count + Self.bitCount - 1) / Self.bitCount
    if nodes.count <= 8 * blockCount {
      return causes(changed, references, in: &graph, below: nodes)
    }
    var causes: [[AnyReference]] = nodes.map { _ in [] }
    for start in stride(from: 0, to: changed.count, by: Self.bitCount) {
      let block = start..<min(changed.count, start + Self.bitCount)
      let origins = graph.origins(above: changed[block])
      var known: [UInt64: [AnyReference]] = [:]
      for (number, node) in nodes.enumerated() {
        guard let bits = origins[node] else { continue }
        let found =
          known[bits]
          ?? block.filter { bits >> UInt64($0 - start) & 1 == 1 }
          .map { references[$0] }
        known[bits] = found
        causes[number] = causes[number].isEmpty ? found : causes[number] + found
      }
    }
    return causes
  }

  private static var bitCount: Int { UInt64.bitWidth }

  private func causes(
    _ changed: [NodeNumber], _ references: [AnyReference], in graph: inout Graph,
    below nodes: [NodeNumber]
  ) -> [[AnyReference]] {
    let places = Dictionary(
      changed.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { $1 })
    return nodes.map { top in
      var found: [Int] = []
      graph.reached(below: top) { node in
        if let place = places[node] { found.append(place) }
      }
      return found.sorted().map { references[$0] }
    }
  }
}

/// An observer of an entity.
@usableFromInline
struct NodeWatch: Sendable {
  /// Makes the notice of a commit with these causes, from the present value in the row.
  @usableFromInline let notice: @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice

  @inlinable
  init(_ notice: @escaping @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice) {
    self.notice = notice
  }
}

/// A subscriber of a store.
///
/// It delivers events of any thread serially and in order, and its first value inside the
/// subscription: it has the turn of its mailbox before the store knows it.
@usableFromInline
final class Watch<Element: Sendable>: Sendable {
  /// The mailbox, where nil stands for the first event, which is unknown until its turn.
  @usableFromInline let mailbox = Mailbox<Event<Element>?>()
  @usableFromInline let observer: Observer<Element>

  /// The lifetime, which ends with the subscription or at the terminal event.
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ observer: Observer<Element>, _ subscriber: Lifetime) {
    self.observer = observer
    lifetime = subscriber.child()
  }

  /// Registers this subscriber by `enter`, and delivers the result before any event sent since.
  @inlinable
  func open(_ enter: () -> Event<Element>) {
    mailbox.post(nil) { deliver($0 ?? enter()) }
  }

  @inlinable
  func post(_ event: Event<Element>) {
    if lifetime.isEnded { return }
    mailbox.post(event) { event in event.map { deliver($0) } }
  }

  @inlinable
  func deliver(_ event: Event<Element>) {
    if lifetime.isEnded { return }
    if event.isTerminal { lifetime.end() }
    observer.send(event)
  }
}
