public import Synchronization

/// A hot signal that is fed by hand.
///
/// Every subscriber receives the events sent after its subscription, all in the same order. A
/// subscriber that arrives after the end receives the end. A subject that is released before its
/// end fails with ``SignalError/abandoned(origin:)``.
///
///     let clicks = PublishSubject<Int>()
///     let subscription = clicks.signal.subscribe(onNext: { print($0) })
///     clicks.next(1)
///
/// - Note: Any thread may send. An event that is sent inside a callback, or while another thread
///   delivers, is queued; the delivering thread delivers it.
/// - Complexity: O(*n*) for each event, with *n* subscribers.
public final class PublishSubject<Value: Sendable>: Sendable {
  @usableFromInline let broadcaster = Broadcaster<Value>()
  @usableFromInline let origin: String?

  /// Creates a subject without subscribers.
  ///
  /// - Parameters:
  ///   - file: The file to name if the subject is released before its end.
  ///   - line: The line to name.
  @inlinable
  public init(file: StaticString = #fileID, line: UInt = #line) {
    origin = placeInCode(file, line)
  }

  deinit {
    broadcaster.other(.failed(SignalError.abandoned(origin: origin)))
  }

  /// The events that are sent from the subscription on.
  @inlinable
  public var signal: Signal<Value> {
    let broadcaster = broadcaster
    return Signal { broadcaster.attach($0, $1) }
  }

  /// An observer that feeds the subject without retaining it.
  @inlinable
  public var observer: Observer<Value> {
    let broadcaster = broadcaster
    return Observer(next: { broadcaster.next($0) }, other: { broadcaster.other($0) })
  }

  /// Sends a value to all subscribers.
  @inlinable
  public func next(_ value: Value) {
    broadcaster.next(value)
  }

  /// Sends the progress of the work.
  @inlinable
  public func progress(_ progress: SignalProgress) {
    broadcaster.other(.progress(progress))
  }

  /// Ends the signal with an error; later calls do nothing.
  @inlinable
  public func failed(_ error: any Error) {
    broadcaster.other(.failed(error))
  }

  /// Ends the signal; later calls do nothing.
  @inlinable
  public func completed() {
    broadcaster.other(.completed)
  }
}

/// The subscribers of one hot signal.
///
/// Arrivals, departures and events are messages of one mailbox, so all subscribers see one order,
/// and the list needs no lock. Arrivals and departures are quiet: they never make their thread
/// deliver events of others.
@usableFromInline
final class Broadcaster<Value: Sendable>: @unchecked Sendable {
  // Sendable because `members` and `end` are touched only with the mailbox's turn.
  @usableFromInline let mailbox = Mailbox<SubscriberMessage<Value>>()
  @usableFromInline let arrivals = AtomicValue(0)
  @exclusivity(unchecked) @usableFromInline var members = SubscriberList<Value>()
  @exclusivity(unchecked) @usableFromInline var end: Event<Never>?

  @inlinable
  init() {}

  /// Adds a subscriber, and sends it the end if there was one.
  ///
  /// Until the lifetime or the broadcaster ends, each retains the other. (A weak reference would
  /// give the broadcaster a side table, and slow down every retain.)
  @inlinable
  func attach(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let number = arrivals.add(1, ordering: .relaxed).newValue
    let member = ListedSubscriber(number, observer, lifetime)
    let end = mailbox.actQuietly(orPost: .arrival(member)) { admit(member) }
    if case .some(.some(let end)) = end, !lifetime.isEnded { observer.other(end) }
    lifetime.onEnd(number) { self.leave($0) }
  }

  @inlinable
  func leave(_ number: Int) {
    let left = mailbox.actQuietly(orPost: .departure(number)) { members.remove(number) }
    withExtendedLifetime(left) {}  // released here, where neither the lock nor the turn is held
  }

  @inlinable
  func next(_ value: Value) {
    let mustDrain = mailbox.act(orPost: .next(value), replaces: SubscriberMessage.replaces) {
      members.next(value)
    }
    if mustDrain { drain() }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    let mustDrain = mailbox.act(orPost: .other(event), replaces: SubscriberMessage.replaces) {
      deliver(event)
    }
    if mustDrain { drain() }
  }

  @inlinable
  @inline(never)
  func drain() {
    var left: [ListedSubscriber<Value>] = []
    mailbox.drain { receive($0, &left) }
    withExtendedLifetime(left) {}
  }

  /// - Parameter left: Collects departed members, to be released after the turn, or when there are
  ///   many: a turn may be long.
  @inlinable
  func receive(_ message: SubscriberMessage<Value>, _ left: inout [ListedSubscriber<Value>]) {
    switch message {
    case .next(let value): members.next(value)
    case .other(let event): deliver(event)
    case .arrival(let member):
      if let end = admit(member), member.isListening { member.observer.other(end) }
    case .departure(let number):
      if left.count == 64 { left = [] }
      if let member = members.remove(number) { left.append(member) }
    }
  }

  @inlinable
  func deliver(_ event: Event<Never>) {
    guard end == nil else { return }
    guard event.isTerminal else { return members.other(event) }
    end = event
    exchange(&members, with: SubscriberList()).other(event)
  }

  /// Adds a member, unless the signal has ended; returns the end, to be sent to it.
  @inlinable
  func admit(_ member: ListedSubscriber<Value>) -> Event<Never>? {
    if end == nil, member.isListening { members.add(member) }
    return end
  }
}
