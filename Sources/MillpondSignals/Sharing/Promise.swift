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

extension Signal {
  /// Runs this signal now, once, without a subscriber, and repeats its latest value and its end.
  ///
  /// The eager ``replayLast(_:resetsOnFailure:)`` with ``ReplayPolicy/keepRunning``: present and
  /// later subscribers receive the latest value and what follows, and the value stays when all have
  /// left. Nobody's leaving cancels the run; limit it before, as by
  /// ``timeout(_:awaiting:clock:)``, if it might never end.
  ///
  ///     let settings = download(url).started(resetsOnFailure: true)
  ///
  /// - Parameter resetsOnFailure: Whether a run that fails is forgotten, so that the next
  ///   subscriber starts a new one. Otherwise the failure is repeated.
  /// - Note: A signal that answers at once has done so when this returns.
  @inlinable
  public func started(resetsOnFailure: Bool = false) -> Signal {
    if let now, let value = now() { return .just(value) }
    let replay = Replay(self, .keepRunning, resetsOnFailure: resetsOnFailure)
    replay.start()
    return replay.signal(emptyError)
  }
}
