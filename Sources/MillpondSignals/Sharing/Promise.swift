/// An outcome that is available before its work has begun: a replayed signal that is fed later.
package final class Promise<Value: Sendable>: Sendable {
  private let pipe = PublishSubject<Value>()
  private let replay: Replay<Value>

  /// Creates a promise that no work feeds yet.
  package init() {
    replay = Replay(pipe.signal, .keepRunning)
    replay.start()
  }

  /// The outcome, for present and later subscribers.
  package var outcome: Signal<Value> {
    replay.signal()
  }

  /// Runs `work`, and forwards its events to the outcome.
  ///
  /// - Parameter work: The work that produces the outcome.
  package func keep(by work: Signal<Value>) {
    work.subscribe { self.pipe.observer.send($0) }
  }
}
