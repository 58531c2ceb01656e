public import Synchronization

/// Those who are subscribed to one hot signal.
///
/// Arriving, leaving and events are messages of one mailbox, so all see one order and the list
/// needs no lock.
@usableFromInline
final class Audience<Value: Sendable>: @unchecked Sendable {
  // Sendable because `members` and `end` are touched only by whoever has the mailbox's turn.
  @usableFromInline let mailbox = Mailbox<Message>()
  @usableFromInline let arrivals = Atomic(0)
  @exclusivity(unchecked) @usableFromInline var members = Members<Value>()
  @exclusivity(unchecked) @usableFromInline var end: Event<Never>?

  @usableFromInline
  enum Message: Sendable {
    case next(Value)
    case other(Event<Never>)
    case arrival(Member<Value>)
    case departure(Int)
  }

  @inlinable
  init() {}

  /// Until the lifetime or the audience ends, each keeps the other. (A weak reference would give
  /// the audience a side table, and make every retain of it slow.)
  @inlinable
  func attach(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let number = arrivals.add(1, ordering: .relaxed).newValue
    let member = Member(number, observer, lifetime)
    mailbox.post(
      .arrival(member), immediately: { welcome(member) }, receive: { receive($0) })
    lifetime.onEnd { self.leave(number) }
  }

  @inlinable
  func leave(_ number: Int) {
    mailbox.post(
      .departure(number), immediately: { members.remove(number) }, receive: { receive($0) })
  }

  @inlinable
  func next(_ value: Value) {
    if mailbox.take() {
      members.next(value)
    } else if !mailbox.enqueue(.next(value), replaces: Self.replaces) {
      return
    }
    if !mailbox.passOn() { drain() }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    post(.other(event))
  }

  @inlinable
  func post(_ message: Message) {
    mailbox.post(message, replaces: Self.replaces) { receive($0) }
  }

  @inlinable
  @inline(never)
  func drain() {
    mailbox.drain { receive($0) }
  }

  @inlinable
  func receive(_ message: Message) {
    switch message {
    case .next(let value): members.next(value)
    case .other(let event): deliver(event)
    case .arrival(let member): welcome(member)
    case .departure(let number): members.remove(number)
    }
  }

  @inlinable
  func deliver(_ event: Event<Never>) {
    guard end == nil else { return }
    guard event.isTerminal else { return members.other(event) }
    end = event
    exchange(&members, with: Members()).other(event)
  }

  @inlinable
  func welcome(_ member: Member<Value>) {
    if let end {
      member.observer.other(end)
    } else if !member.lifetime.isEnded {
      members.add(member)
    }
  }

  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    if case .other(.progress) = last, case .other(.progress) = new { true } else { false }
  }
}
