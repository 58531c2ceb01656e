public import MillpondSignals

/// The subscribers of a store, and what they are still to be told, under the lock of its tables.
@usableFromInline
struct Observers: Sendable {
  /// The observers of each entity, by their numbers.
  @usableFromInline var watches: [NodeNumber: [Int: NodeWatch]] = [:]

  /// How to end the wait of each subscriber, by its number.
  @usableFromInline var failures: [Int: @Sendable (any Error) -> Void] = [:]

  /// What is called after all that a commit has to tell of what is stored.
  @usableFromInline var commitListeners: [Int: Notice] = [:]

  /// What is still to be told, in the order of the commits.
  @usableFromInline var notices: [Notice] = []
  @usableFromInline var isDelivering = false

  /// How many entities have lost their last observer since the graph was marked anew.
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

  /// Lets go of an observer; gives what is to be released after the unlock.
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
    departures += 1
    // As often as it costs no more than the departures themselves, stale marks are wiped out.
    if departures > tables.graph.markedCount / 8 {
      departures = 0
      tables.graph.remark(below: watches.keys)
    }
    return (watch, tables.forget(node))
  }

  // MARK: Telling

  /// Takes what is to be told; nothing if another thread is about to tell it.
  @usableFromInline
  mutating func takeNotices(isFirst: Bool) -> [Notice] {
    if isFirst, isDelivering { return [] }
    isDelivering = !notices.isEmpty
    defer { notices = [] }
    return notices
  }

  /// Leaves the notices of a commit: one for each observer that something has changed for.
  ///
  /// - Parameters:
  ///   - changed: The nodes that have changed.
  ///   - references: Makes the references to them, side by side with the nodes.
  @usableFromInline
  mutating func announce(
    _ changed: [NodeNumber], in graph: inout Graph, _ references: () -> [AnyReference]
  ) {
    let found = graph.watched(above: changed)
    if found.isEmpty { return }
    let causes = causes(changed, references(), in: &graph, for: found)
    var notices: [(number: Int, notice: Notice)] = []
    for (node, causes) in zip(found, causes) {
      for (number, watch) in watches[node] ?? [:] {
        notices.append((number, watch.notice(graph.nodes[Int(node)].row, causes)))
      }
    }
    notices.sort { $0.number < $1.number }
    self.notices += notices.map(\.notice)
  }

  /// Leaves the notices of those who are told of whole types, and then those of the end of a commit.
  @usableFromInline
  mutating func announce(_ listenerNotices: [Notice]) {
    notices += listenerNotices
    notices += commitListeners.values
  }

  /// Which of the changes each of `nodes` depends on; where there is only one, all do on that.
  private func causes(
    _ changed: [NodeNumber], _ references: [AnyReference], in graph: inout Graph,
    for nodes: [NodeNumber]
  ) -> [[AnyReference]] {
    if references.count == 1 { return nodes.map { _ in references } }
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

/// One who observes an entity.
@usableFromInline
struct NodeWatch: Sendable {
  /// Makes what is to be called of a commit with these causes, with the value that is in the row now.
  @usableFromInline let notice: @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice

  @inlinable
  init(_ notice: @escaping @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice) {
    self.notice = notice
  }
}

/// One who observes a store, or waits for something from it.
///
/// What it is sent, by whichever thread, it gets serially and in order, and its first value inside
/// the subscription: it has the turn of its mailbox before anybody knows of it.
@usableFromInline
final class Watch<Element: Sendable>: Sendable {
  /// Nil stands for the first event, which is not known before it is this one's turn.
  @usableFromInline let mailbox = Mailbox<Event<Element>?>()
  @usableFromInline let observer: Observer<Element>

  /// Ends with the subscription, or before it, with the terminal event.
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ observer: Observer<Element>, _ subscriber: Lifetime) {
    self.observer = observer
    lifetime = subscriber.child()
  }

  /// Registers this by `enter`, and delivers what that returns before anything that is sent since.
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
