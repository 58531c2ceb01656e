/// A cold recipe for events: each subscription runs it anew.
///
/// The contract, in short: any number of values and progress events, then at most one terminal
/// event; never two deliveries at once; after disposal, silence.
///
/// - Note: Any thread may subscribe. Events arrive on the thread that sends them, or on one that is
///   delivering at that moment, see <doc:SignalContract> and ``receive(on:limit:)-(DispatchQueue,_)``.
public struct Signal<Value: Sendable>: Sendable {
  /// Sends the events of one run to an observer, for as long as the lifetime lasts.
  public typealias Start = @Sendable (Observer<Value>, Lifetime) -> Void

  /// Starts a run; nil where ``now`` always answers.
  @usableFromInline let start: Start?

  /// Answers with the only value of a run that would send it, and complete, at once.
  ///
  /// Then there is no need for a lifetime, nor for an observer. Nil where the run has to be started.
  @usableFromInline package let now: (@Sendable () -> Value?)?

  /// What `value` throws when the signal is empty; ``SignalError/empty`` unless told otherwise.
  @usableFromInline package let emptyError: (any Emptiness.Type)?

  /// What this consists of, if another one of its kind would make it longer, not deeper.
  @usableFromInline let parts: SignalParts<Value>?

  /// Makes a signal of its parts, as an operator does.
  ///
  /// `start` promises what the operators below rely on, and nothing checks it: it calls serially, sends
  /// nothing after a terminal event, sends nothing of its own once the lifetime has ended, and ends
  /// every run. It may pass on whatever a signal sends that it runs.
  /// ``create(file:line:_:)`` is for code that can't promise that, as a callback API, and costs a few
  /// nanoseconds an event.
  @inlinable
  public init(_ start: @escaping Start) {
    self.init(start: start, now: nil)
  }

  @inlinable
  package init(
    start: Start?,
    now: (@Sendable () -> Value?)?,
    emptyError: (any Emptiness.Type)? = nil
  ) {
    self.init(start: start, now: now, emptyError: emptyError, parts: nil)
  }

  @inlinable
  init(
    start: Start?,
    now: (@Sendable () -> Value?)?,
    emptyError: (any Emptiness.Type)?,
    parts: SignalParts<Value>?
  ) {
    self.start = start
    self.now = now
    self.emptyError = emptyError
    self.parts = parts
  }

  /// Runs the signal for an operator: its events go to `observer` until `lifetime` ends.
  @inlinable
  public func run(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    if let value = now?() {
      observer.next(value)
      if !lifetime.isEnded { observer.completed() }
    } else if observer.canSubscribe(lifetime) {
      start?(observer, lifetime)
    }
  }
}

/// What an empty signal fails with where a value is needed.
///
/// A type, not a closure: copying a signal retains what is in it, and there is nothing to retain.
@usableFromInline
package protocol Emptiness: SendableMetatype {
  static var error: any Error { get }
}
