public import MillpondCore
public import MillpondSignals

/// The subscribers of a store and their pending notices, under the lock of its tables.
@usableFromInline
struct EntityObservers: Sendable {
  /// The observers of each entity, by number.
  @usableFromInline var watches: [NodeNumber: ObserverList] = [:]

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
    _ watch: NodeObserver, _ number: Int, of node: NodeNumber, in tables: inout EntityTables
  ) {
    Self.add(watch, number, to: &watches[node])
    tables.graph.nodes[Int(node)].isWatched = true
    tables.graph.keep(node)
    tables.graph.markWatched(node)
  }

  /// Removes an observer, and returns objects to release after the unlock.
  @usableFromInline
  mutating func remove(
    _ number: Int, of node: NodeNumber, in tables: inout EntityTables, _ now: Int64
  ) -> (watch: NodeObserver?, entity: (any Sendable)?) {
    tables.touch(node, now)
    let (watch, isLast) = Self.remove(number, from: &watches[node])
    if !isLast { return (watch, nil) }
    tables.graph.nodes[Int(node)].isWatched = false
    tables.collection.depart()
    depart(1, in: &tables)
    return (watch, tables.forget(node))
  }

  private static func add(_ watch: NodeObserver, _ number: Int, to list: inout ObserverList?) {
    if list == nil { list = ObserverList() }
    list?.add(watch, number)
  }

  private static func remove(
    _ number: Int, from list: inout ObserverList?
  ) -> (NodeObserver?, isLast: Bool) {
    let watch = list?.remove(number)
    guard list?.isEmpty == true else { return (watch, false) }
    list = nil
    return (watch, true)
  }

  /// Records that entities have lost their last observer, or their list.
  ///
  /// Stale marks are wiped when that costs no more than the departures themselves: a few at once,
  /// many by the next commit, in steps.
  @usableFromInline
  mutating func depart(_ count: Int, in tables: inout EntityTables) {
    departures += count
    let isSmall = tables.graph.markedCount <= Commit.stepSize
    if isSmall, isRemarkDue(tables), !tables.graph.isWalked {
      departures = 0
      tables.remark(below: watches.keys)
    }
  }

  /// Whether so many marks may be stale that all are to be set anew.
  @inlinable
  func isRemarkDue(_ tables: EntityTables) -> Bool {
    departures > 0 && departures > tables.graph.markedCount / 8
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

  /// Begins the notification of a commit: one notice for each affected observer, then those for
  /// subscribers of types, and then those for its end.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - tables: The tables.
  ///   - last: The number of the last observer that has not seen the changes yet.
  ///   - causes: Returns references to the changed entities, in the order of their nodes.
  /// - Returns: The rest of the work, if it takes more than a step; nil if the notices are queued.
  @inlinable
  mutating func notify(
    of commit: inout Commit, in tables: inout EntityTables, upTo last: Int,
    _ causes: () -> [AnyReference]
  ) -> CommitNotification? {
    if !commit.changed.isEmpty {
      return notifyOfChanges(&commit, in: &tables, upTo: last, causes)
    }
    if !commit.notices.isEmpty { queue(commit.notices) }
    return nil
  }

  @usableFromInline
  mutating func notifyOfChanges(
    _ commit: inout Commit, in tables: inout EntityTables, upTo last: Int,
    _ causes: () -> [AnyReference]
  ) -> CommitNotification? {
    var notification = CommitNotification(
      of: commit.changed, upTo: last, isObserved: !watches.isEmpty, in: &tables)
    if notification.advance(Commit.stepSize, &tables, watches, causes) {
      tables.graph.isWalked = true
      return notification
    }
    let (notices, lists) = notification.takeNotices()
    self.notices += notices
    commit.notices += lists
    if !commit.notices.isEmpty { queue(commit.notices) }
    return nil
  }

  /// Queues the notices for subscribers of types, and then those for the end of a commit.
  @usableFromInline
  mutating func queue(_ listenerNotices: [Notice]) {
    notices += listenerNotices
    notices += commitListeners.values
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
