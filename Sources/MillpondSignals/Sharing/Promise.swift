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
  /// - Parameters:
  ///   - work: The work that produces the outcome.
  ///   - done: Called after the end has been passed on.
  package func keep(by work: Signal<Value>, done: @escaping @Sendable () -> Void = {}) {
    work.subscribe { event in
      self.pipe.observer.send(event)
      if event.isTerminal { done() }
    }
  }
}
