public import Synchronization

/// Those who are subscribed to one hot signal.
///
/// Arriving, leaving and events are messages of one mailbox, so all see one order and the list
/// needs no lock. Arriving and leaving are quiet: a thread that does nothing else delivers nothing.
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
    let end = mailbox.actQuietly(orPost: .arrival(member)) { admit(member) }
    if case .some(.some(let end)) = end, !lifetime.isEnded { observer.other(end) }
    lifetime.onEnd { self.leave(number) }
  }

  @inlinable
  func leave(_ number: Int) {
    let left = mailbox.actQuietly(orPost: .departure(number)) { members.remove(number) }
    _ = left  // released here, where neither the lock nor the turn is held
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
    var left: [Observer<Value>] = []
    mailbox.post(.other(event), replaces: Self.replaces) { receive($0, &left) }
    withExtendedLifetime(left) {}
  }

  @inlinable
  @inline(never)
  func drain() {
    var left: [Observer<Value>] = []
    mailbox.drain { receive($0, &left) }
    withExtendedLifetime(left) {}
  }

  /// - Parameter left: Takes the observers of those who leave, to be released after the turn.
  @inlinable
  func receive(_ message: Message, _ left: inout [Observer<Value>]) {
    switch message {
    case .next(let value): members.next(value)
    case .other(let event): deliver(event)
    case .arrival(let member):
      if let end = admit(member), !member.lifetime.isEnded { member.observer.other(end) }
    case .departure(let number):
      if let observer = members.remove(number) { left.append(observer) }
    }
  }

  @inlinable
  func deliver(_ event: Event<Never>) {
    guard end == nil else { return }
    guard event.isTerminal else { return members.other(event) }
    end = event
    exchange(&members, with: Members()).other(event)
  }

  /// Takes a member in; the end, to be sent to it, if that has been already.
  @inlinable
  func admit(_ member: Member<Value>) -> Event<Never>? {
    if end == nil, !member.lifetime.isEnded { members.add(member) }
    return end
  }

  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    if case .other(.progress) = last, case .other(.progress) = new { true } else { false }
  }
}
