/// Those who are subscribed to one hot signal.
///
/// Arriving, leaving and events are messages of one mailbox, so all see one order and the list
/// needs no lock.
@usableFromInline
final class Audience<Value: Sendable>: @unchecked Sendable {
  // Sendable because `members` and `end` are touched only by whoever has the mailbox's turn.
  @usableFromInline let mailbox = Mailbox<Message>()
  @exclusivity(unchecked) @usableFromInline var members = Members<Value>()
  @exclusivity(unchecked) @usableFromInline var end: Event<Never>?

  @usableFromInline
  enum Message: Sendable {
    case next(Value)
    case other(Event<Never>)
    case arrival(Member<Value>)
    case departure(Member<Value>)
  }

  @inlinable
  init() {}

  /// Until the lifetime or the audience ends, each keeps the other. (A weak reference would give
  /// the audience a side table, and make every retain of it slow.)
  @inlinable
  func attach(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let member = Member(observer, lifetime)
    post(.arrival(member))
    lifetime.onEnd { self.post(.departure(member)) }
  }

  @inlinable
  func next(_ value: Value) {
    post(.next(value))
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
  func receive(_ message: Message) {
    switch message {
    case .next(let value): members.next(value)
    case .other(let event): deliver(event)
    case .arrival(let member): welcome(member)
    case .departure(let member): members.remove(member)
    }
  }

  @inlinable
  func deliver(_ event: Event<Never>) {
    guard end == nil else { return }
    let audience = members
    if event.isTerminal {
      members = Members()
      end = event
    }
    audience.other(event)
  }

  @inlinable
  func welcome(_ member: Member<Value>) {
    if let end {
      member.observer.other(end)
    } else if !member.lifetime.isEnded {
      members.append(member)
    }
  }

  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    if case .other(.progress) = last, case .other(.progress) = new { true } else { false }
  }
}
