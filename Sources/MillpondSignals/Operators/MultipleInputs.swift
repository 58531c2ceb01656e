/// The rule of an operator with several inputs: pure, and given one message at a time.
@usableFromInline
protocol MultipleInputsRule<Message, Output>: Sendable {
  associatedtype Message: Sendable
  associatedtype Output: Sendable

  /// Returns the event to send for a message of an input, if any.
  mutating func received(_ message: Message) -> Event<Output>?

  /// Returns whether the second of two consecutive waiting messages makes the first superfluous.
  static func replaces(_ last: Message, _ new: Message) -> Bool
}

extension MultipleInputsRule {
  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    false
  }
}

/// An engine that delivers the events which a rule makes of the messages of several inputs.
@usableFromInline
@_fixed_layout
final class MultipleInputs<Rule: MultipleInputsRule>: @unchecked Sendable {
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
