/// An outcome that is available before its work has begun, for subscribers before and after its end.
///
/// A promise that is released before its end fails with ``SignalError/abandoned(origin:)``.
/// Disposing of a subscription cancels nothing.
package final class Promise<Value: Sendable>: Sendable {
  private let run = Run<Value>()

  /// Creates a promise that no work feeds yet.
  package init() {}

  deinit {
    if !run.hasEnded { run.other(.failed(SignalError.abandoned(origin: nil))) }
  }

  /// The outcome, for present and later subscribers.
  package var outcome: Signal<Value> {
    let run = run
    return Signal(start: { run.attach($0, $1) }, now: { run.settledValue })
  }

  /// Runs `work`, and forwards its events to the outcome.
  ///
  /// - Parameter work: The work that produces the outcome.
  package func keep(by work: Signal<Value>) {
    work.run(Observer(next: { self.run.next($0) }, other: { self.run.other($0) }), run.lifetime)
  }
}

extension Promise<Void> {
  /// Ends the outcome; only the first call has an effect.
  ///
  /// - Parameter failure: The error of the work; nil if it has succeeded.
  package func end(_ failure: (any Error)? = nil) {
    keep(by: failure.map { .fail($0) } ?? .just(()))
  }
}
