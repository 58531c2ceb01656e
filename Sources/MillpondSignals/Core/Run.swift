public import Synchronization

/// One run of a hot signal: that of a signal which several subscribers share, or of a subject, which
/// is fed by hand.
///
/// A late subscriber first receives the latest progress and value, if they are repeated, or the end.
/// Arrivals, departures and events are messages of one mailbox, so they have one order for all, and
/// the list of subscribers needs no lock. The run is its own lifetime, whose end cancels the work.
@usableFromInline
@_fixed_layout
package class Run<Value: Sendable>: LifetimeCore, @unchecked Sendable {
  // Sendable because its variables are touched only with the mailbox's turn.

  @usableFromInline final let mailbox = Mailbox<SubscriberMessage<Value>>()
  @usableFromInline final let arrivals = AtomicValue(0)
  @usableFromInline final let hasEndedFlag = AtomicValue(false)

  /// Whether late subscribers receive the latest progress and value.
  @usableFromInline final let repeatsLatest: Bool

  @exclusivity(unchecked) @usableFromInline final var members = SubscriberList<Value>()
  @exclusivity(unchecked) @usableFromInline final var progress: SignalProgress?

  /// The latest value; nil before the first.
  ///
  /// Not an optional value, which would look up its generic metadata at each release.
  @exclusivity(unchecked) @usableFromInline final var latest: SerialState<Value>?

  @exclusivity(unchecked) @usableFromInline final var end: Event<Never>?

  /// The mark of the thread that delivers a value; zero while none is being delivered.
  @usableFromInline final let deliverer = AtomicValue<UInt>(0)

  /// The number of a subscriber that has left on that thread during the delivery; zero if none has.
  @exclusivity(unchecked) @usableFromInline final var departed = 0

  /// Creates a run that has not begun.
  @inlinable
  package init(isAwaited: Bool = false, repeatsLatest: Bool = true) {
    self.repeatsLatest = repeatsLatest
    super.init(bits: isAwaited ? LifetimeCore.awaited : 0)
  }

  /// The lifetime of the run; its end cancels the work.
  @inlinable
  package final var lifetime: Lifetime {
    Lifetime(core: self)
  }

  /// Whether the run has received its end, and has no subscribers any more.
  @inlinable
  package final var hasEnded: Bool {
    hasEndedFlag.load(ordering: .acquiring)
  }

  /// The last value of a run that has completed, which changes no more; nil if there is none.
  @inlinable
  package final var settledValue: Value? {
    guard hasEnded, case .completed? = end else { return nil }
    return latest?.value
  }

  /// Sends the replayed events, and then those that follow, until `lifetime` ends.
  ///
  /// - Returns: The number for ``leave(_:)`` when that lifetime has ended.
  @inlinable
  package final func join(_ observer: Observer<Value>, _ lifetime: Lifetime) -> Int {
    if hasEnded {
      repeatEnd(observer, lifetime)
      return 0
    }
    let number = arrivals.add(1, ordering: .relaxed).newValue
    if !repeatsLatest {
      joinQuietly(ListedSubscriber(number, observer, lifetime))
      return number
    }
    let mustDrain = mailbox.act(
      orPost: .arrival(ListedSubscriber(number, observer, lifetime)),
      replaces: SubscriberMessage.replaces
    ) { welcome(ListedSubscriber(number, observer, lifetime)) }
    if mustDrain { drain() }
    return number
  }

  /// Sends the last value and the end, which change no more.
  @inlinable
  final func repeatEnd(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    if let latest, !lifetime.isEnded { observer.next(latest.value) }
    if let end, !lifetime.isEnded { observer.other(end) }
  }

  /// Adds a subscriber, and removes it when its lifetime ends.
  ///
  /// Until the lifetime or the run ends, each retains the other. (A weak reference would give the
  /// run a side table, and slow down every retain.)
  @inlinable
  final func attach(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    lifetime.onEnd(join(observer, lifetime)) { self.leave($0) }
  }

  /// Adds a subscriber to which nothing is repeated: its thread delivers no events of others.
  @inlinable
  final func joinQuietly(_ member: ListedSubscriber<Value>) {
    let end = mailbox.actQuietly(orPost: .arrival(member)) { admit(member) }
    if case .some(.some(let end)) = end, member.isListening { member.observer.other(end) }
  }

  /// Adds a subscriber, unless the run has ended; returns the end, to be sent to it.
  @inlinable
  final func admit(_ member: ListedSubscriber<Value>) -> Event<Never>? {
    if end == nil, member.isListening { members.add(member) }
    return end
  }

  /// Removes a subscriber whose lifetime has ended.
  @inlinable
  package final func leave(_ number: Int) {
    if hasEnded { return }
    // A subscriber that leaves during a delivery on this thread, such as a task that has awaited
    // the value, is removed after the delivery, without a message.
    let deliverer = deliverer.load(ordering: .relaxed)
    if deliverer != 0, deliverer == threadMark(), departed == 0 { return departed = number }
    let left = mailbox.actQuietly(orPost: .departure(number)) { members.remove(number) }
    withExtendedLifetime(left) {}  // released here, where neither the lock nor the turn is held
  }

  /// Receives a value of the run.
  @inlinable
  package final func next(_ value: Value) {
    guard repeatsLatest else { return nextUnrepeated(value) }
    var leaver: ListedSubscriber<Value>?
    let mustDrain = mailbox.act(orPost: .next(value), replaces: SubscriberMessage.replaces) {
      leaver = deliver(value)
    }
    if mustDrain { drain() }
    withExtendedLifetime(leaver) {}
  }

  @inlinable
  final func nextUnrepeated(_ value: Value) {
    let mustDrain = mailbox.act(orPost: .next(value), replaces: SubscriberMessage.replaces) {
      members.next(value)
    }
    if mustDrain { drain() }
  }

  /// Receives progress or the end of the run.
  @inlinable
  package final func other(_ event: Event<Never>) {
    let mustDrain = mailbox.act(orPost: .other(event), replaces: SubscriberMessage.replaces) {
      deliver(event)
    }
    if mustDrain { drain() }
  }

  @inlinable
  @inline(never)
  final func drain() {
    var left: [ListedSubscriber<Value>] = []
    mailbox.drain { receive($0, &left) }
    withExtendedLifetime(left) {}
  }

  /// - Parameter left: Collects departed members, to be released after the turn, or when there are
  ///   many: a turn may be long.
  @inlinable
  final func receive(_ message: SubscriberMessage<Value>, _ left: inout [ListedSubscriber<Value>]) {
    switch message {
    case .arrival(let member): welcome(member)
    case .departure(let number):
      if left.count == 64 { left = [] }
      if let member = members.remove(number) { left.append(member) }
    case .next(let value) where !repeatsLatest: members.next(value)
    case .next(let value): if let leaver = deliver(value) { left.append(leaver) }
    case .other(let event): deliver(event)
    }
  }

  @inlinable
  final func welcome(_ member: consuming ListedSubscriber<Value>) {
    guard member.isListening else { return }
    if let progress { member.observer.progress(progress) }
    if let latest, member.isListening { member.observer.next(latest.value) }
    guard let end else { return members.add(member) }
    if member.isListening { member.observer.other(end) }
  }

  /// - Returns: A subscriber that has left meanwhile, to be released after the turn.
  @inlinable
  final func deliver(_ value: Value) -> ListedSubscriber<Value>? {
    guard end == nil else { return nil }
    if let latest { latest.value = value } else { latest = SerialState(value) }
    deliverer.store(threadMark(), ordering: .relaxed)
    members.next(value)
    deliverer.store(0, ordering: .relaxed)
    return departed > 0 ? members.remove(exchange(&departed, with: 0)) : nil
  }

  @inlinable
  final func deliver(_ event: Event<Never>) {
    guard end == nil else { return }
    if case .progress(let progress) = event {
      if repeatsLatest { self.progress = progress }
      members.other(event)
    } else {
      finish(event)
    }
  }

  @inlinable
  final func finish(_ end: Event<Never>) {
    self.end = end
    progress = nil
    let receivers = exchange(&members, with: SubscriberList())
    hasEndedFlag.store(true, ordering: .releasing)
    lifetime.end()
    receivers.other(end)
  }
}
