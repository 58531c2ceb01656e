/// Those who are subscribed to one hot signal.
///
/// Arriving, leaving and events are messages of one mailbox, so all see one order and the list
/// needs no lock.
@usableFromInline
final class Audience<Value: Sendable>: @unchecked Sendable {
  // Sendable because `members` and `end` are touched only by whoever has the mailbox's turn.
  @usableFromInline let mailbox = Mailbox<Message>()
  @exclusivity(unchecked) @usableFromInline var members: [Member] = []
  @exclusivity(unchecked) @usableFromInline var end: Event<Never>?

  @usableFromInline
  enum Message: Sendable {
    case event(Event<Value>)
    case arrival(Member)
    case departure(ObjectIdentifier)
  }

  @usableFromInline
  struct Member: Sendable {
    @usableFromInline let observer: Observer<Value>
    @usableFromInline let lifetime: Lifetime

    @inlinable
    init(observer: Observer<Value>, lifetime: Lifetime) {
      self.observer = observer
      self.lifetime = lifetime
    }
  }

  @inlinable
  init() {}

  @inlinable
  func attach(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    post(.arrival(Member(observer: observer, lifetime: lifetime)))
    let identity = lifetime.identity
    lifetime.onEnd { [weak self] in self?.post(.departure(identity)) }
  }

  @inlinable
  func send(_ event: Event<Value>) {
    post(.event(event))
  }

  @inlinable
  func post(_ message: Message) {
    mailbox.post(message, replaces: Self.replaces) { receive($0) }
  }

  @inlinable
  func receive(_ message: Message) {
    if case .event(.next(let value)) = message {
      for member in members where !member.lifetime.isEnded { member.observer.next(value) }
    } else {
      receiveOther(message)
    }
  }

  @usableFromInline
  func receiveOther(_ message: Message) {
    switch message {
    case .event(let event): deliver(event)
    case .arrival(let member): welcome(member)
    case .departure(let identity): members.removeAll { $0.lifetime.identity == identity }
    }
  }

  @inlinable
  func deliver(_ event: Event<Value>) {
    guard end == nil else { return }
    let audience = members
    if event.isTerminal {
      members = []
      end = event.withoutValue
    }
    for member in audience where !member.lifetime.isEnded { member.observer.send(event) }
  }

  @inlinable
  func welcome(_ member: Member) {
    if let end {
      member.observer.other(end)
    } else if !member.lifetime.isEnded {
      members.append(member)
    }
  }

  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    if case .event(.progress) = last, case .event(.progress) = new { true } else { false }
  }
}
