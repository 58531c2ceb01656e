extension Signal {
  /// Joins each value to the latest one of `other`; those before its first one are dropped.
  ///
  /// `other` is subscribed to first. Its completion changes nothing, its failure ends everything,
  /// and progress is that of this signal.
  ///
  /// - Note: A thread that sends a value of `other` delivers nothing.
  @inlinable
  public func withLatest<Other>(from other: Signal<Other>) -> Signal<(Value, Other)> {
    derived { observer, lifetime in
      let joining = Joining(observer, lifetime, WithLatestRule<Value, Other>())
      joining.run(other) {
        value in
        joining.note(.latest(value)) { $0?.replaceNewest(with: value) }
      } other: { event in
        if case .failed = event { joining.post(.other(event)) }
      }
      joining.run(self) {
        joining.post(.value($0))
      } other: {
        joining.post(.other($0))
      }
    }
  }
}

/// What is the newest of the other values.
@usableFromInline
struct WithLatestRule<Value: Sendable, Other: Sendable>: JoiningRule {
  @usableFromInline
  enum Message: Sendable {
    case value(Value)
    case latest(Other)
    case other(Event<Never>)
  }

  @usableFromInline var newest: Other?

  @inlinable
  init() {}

  /// Returns the value before.
  @inlinable
  mutating func replaceNewest(with new: Other) -> Other? {
    exchange(&newest, with: new)
  }

  @inlinable
  mutating func received(_ message: Message) -> Event<(Value, Other)>? {
    switch message {
    case .value(let value): return newest.map { .next((value, $0)) }
    case .latest(let new): newest = new
    case .other(let event): return event.typed()
    }
    return nil
  }
}

extension Signal {
  /// Passes on the newest value whenever `sampler` sends one, if it was not passed on already.
  ///
  /// The end of either is the last sample: a completion, of this signal or of the sampler, sends
  /// the value that waits and completes; a failure drops it and ends everything. Progress is that
  /// of this signal, which is subscribed to first.
  ///
  /// - Parameter sampler: What its values are doesn't matter.
  /// - Note: A thread that sends a value of this signal delivers nothing.
  @inlinable
  public func sample(on sampler: Signal<some Sendable>) -> Signal {
    derived { observer, lifetime in
      let joining = Joining(observer, lifetime, SampleOnRule<Value>())
      joining.run(self) {
        value in
        joining.note(.value(value)) { $0?.replaceWaiting(with: value) }
      } other: { event in
        if case .completed = event { joining.post(.sample) }
        joining.post(.other(event))
      }
      joining.run(sampler) { _ in
        joining.post(.sample)
      } other: { event in
        if case .progress = event { return }
        if case .completed = event { joining.post(.sample) }
        joining.post(.other(event))
      }
    }
  }
}

/// Which value waits for the next sample.
@usableFromInline
struct SampleOnRule<Value: Sendable>: JoiningRule {
  @usableFromInline
  enum Message: Sendable {
    case value(Value)
    case sample
    case other(Event<Never>)
  }

  @usableFromInline var waiting: Value?

  @inlinable
  init() {}

  /// Returns the value before.
  @inlinable
  mutating func replaceWaiting(with new: Value) -> Value? {
    exchange(&waiting, with: new)
  }

  @inlinable
  mutating func received(_ message: Message) -> Event<Value>? {
    switch message {
    case .value(let value): waiting = value
    case .other(let event): return event.typed()
    case .sample:
      defer { waiting = nil }
      return waiting.map { .next($0) }
    }
    return nil
  }
}

/// What an operator of several inputs decides: pure, told what they have sent, one thing at a time.
@usableFromInline
protocol JoiningRule<Message, Output>: Sendable {
  associatedtype Message: Sendable
  associatedtype Output: Sendable

  /// What to send for what an input has sent, if anything.
  mutating func received(_ message: Message) -> Event<Output>?

  /// Whether the second of two messages, that wait one after the other, says all of the first.
  static func replaces(_ last: Message, _ new: Message) -> Bool
}

extension JoiningRule {
  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    false
  }
}

/// Delivers what a rule makes of the messages that several inputs post.
@usableFromInline
final class Joining<Rule: JoiningRule>: @unchecked Sendable {
  // Sendable because `rule` is touched only by whoever has the mailbox's turn.
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let downstream: Observer<Rule.Output>
  @usableFromInline let mailbox = Mailbox<Rule.Message>()
  @exclusivity(unchecked) @usableFromInline var rule: Rule?

  @inlinable
  init(_ downstream: Observer<Rule.Output>, _ subscriber: Lifetime, _ rule: Rule) {
    self.downstream = downstream
    lifetime = subscriber.child()
    self.rule = rule
  }

  /// Runs an input, unless all is over, with a lifetime that its end ends.
  @inlinable
  func run<Input>(
    _ input: Signal<Input>, next: @escaping @Sendable (Input) -> Void,
    other: @escaping @Sendable (Event<Never>) -> Void
  ) {
    if lifetime.isEnded { return }
    let run = lifetime.child()
    input.run(
      Observer(next: next) { event in
        if event.isTerminal { run.end() }
        other(event)
      }, run)
  }

  @inlinable
  func post(_ message: Rule.Message) {
    mailbox.post(message, replaces: Rule.replaces) { receive($0) }
  }

  /// Takes in what only changes the rule: nothing is sent for it, and nothing that others send is
  /// delivered by the caller.
  ///
  /// - Parameters:
  ///   - message: Stands for the change, if another thread has the turn.
  ///   - change: Changes the rule, and returns what it replaces, to be released outside.
  @inlinable
  func note<Old>(
    _ message: @autoclosure () -> Rule.Message, _ change: (inout Rule?) -> Old?
  ) {
    if lifetime.isEnded { return }
    let old = mailbox.actQuietly(orPost: message()) { change(&rule) }
    _ = old  // released here, not under the lock
  }

  @inlinable
  func receive(_ message: Rule.Message) {
    guard !lifetime.isEnded, let event = rule?.received(message) else { return }
    if event.isTerminal {
      rule = nil
      lifetime.end()
    }
    downstream.send(event)
  }
}

extension Mailbox {
  /// Receives `message`, now or after those before it.
  @inlinable
  package borrowing func post(
    _ message: Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    receive: (Message) -> Void
  ) {
    post(message, replaces: replaces, immediately: { receive(message) }, receive: receive)
  }
}
