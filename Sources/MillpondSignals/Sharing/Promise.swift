/// An outcome that is told before the work towards it has begun: a replayed signal, fed later.
package final class Promise<Value: Sendable>: Sendable {
  private let pipe = PublishSubject<Value>()
  private let replay: Replay<Value>

  /// A promise that nobody works on yet.
  package init() {
    replay = Replay(pipe.signal, .keepRunning)
    replay.start()
  }

  /// The outcome, for those who come now and later.
  package var outcome: Signal<Value> {
    replay.signal
  }

  /// Runs `work`, and keeps the promise by what it sends.
  ///
  /// - Parameter done: Called after the end has been passed on.
  package func keep(by work: Signal<Value>, done: @escaping @Sendable () -> Void = {}) {
    work.subscribe { event in
      self.pipe.observer.send(event)
      if event.isTerminal { done() }
    }
  }
}

extension Signal {
  /// Runs this now, once, whoever listens: a promise of its outcome.
  @inlinable
  package func started() -> Signal {
    if let now, let value = now() { return .just(value) }
    let replay = Replay(self, .keepRunning)
    replay.start()
    return replay.signal
  }
}
