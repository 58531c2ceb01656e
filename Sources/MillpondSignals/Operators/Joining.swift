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
