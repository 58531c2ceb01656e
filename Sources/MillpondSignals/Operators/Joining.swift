extension Signal {
  /// Joins each value to the latest value of `other`; drops values before the first one of `other`.
  ///
  /// `other` is subscribed to first. Its completion changes nothing; its failure ends everything.
  /// Progress is that of this signal.
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

/// The newest value of the other signal.
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

  /// Replaces the newest value, and returns the previous one.
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
  /// Passes on the newest value whenever `sampler` sends one, unless it was passed on already.
  ///
  /// The end of either signal is the last sample: a completion, of this signal or of the sampler,
  /// sends the waiting value and completes; a failure drops it and ends everything. Progress is
  /// that of this signal, which is subscribed to first.
  ///
  /// - Parameter sampler: Sends the ticks; its values themselves are ignored.
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

/// The value that waits for the next sample.
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

  /// Replaces the waiting value, and returns the previous one.
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

/// The rule of an operator with several inputs: pure, and given one message at a time.
@usableFromInline
protocol JoiningRule<Message, Output>: Sendable {
  associatedtype Message: Sendable
  associatedtype Output: Sendable

  /// Returns the event to send for a message of an input, if any.
  mutating func received(_ message: Message) -> Event<Output>?

  /// Returns whether the second of two consecutive waiting messages makes the first superfluous.
  static func replaces(_ last: Message, _ new: Message) -> Bool
}

extension JoiningRule {
  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    false
  }
}

/// An engine that delivers the events which a rule makes of the messages of several inputs.
@usableFromInline
final class Joining<Rule: JoiningRule>: @unchecked Sendable {
  // Sendable because `rule` is touched only with the mailbox's turn.
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

  /// Runs an input, unless the whole has ended, with a lifetime that ends at the input's end.
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

  /// Makes a change to the rule that sends nothing; the calling thread delivers no events of
  /// others.
  ///
  /// - Parameters:
  ///   - message: The message that stands for the change if another thread has the turn.
  ///   - change: Changes the rule, and returns the replaced object, to be released after the
  ///     unlock.
  @inlinable
  func note<Old>(
    _ message: @autoclosure () -> Rule.Message, _ change: (inout Rule?) -> Old?
  ) {
    if lifetime.isEnded { return }
    let old = mailbox.actQuietly(orPost: message()) { change(&rule) }
    withExtendedLifetime(old) {}  // released here, not under the lock
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
  /// Receives `message` now, or after the messages before it.
  @inlinable
  package borrowing func post(
    _ message: Message,
    replaces: (Message, Message) -> Bool = { _, _ in false },
    receive: (Message) -> Void
  ) {
    post(message, replaces: replaces, immediately: { receive(message) }, receive: receive)
  }
}
