import Dispatch

extension Signal {
  /// Delivers every event on the main actor, in order, one at a time.
  ///
  /// What is sent on the main thread while nothing waits is delivered there at once, without a
  /// hop: a value that is in memory is on the screen before the first frame.
  ///
  /// - Parameter limit: As in ``receive(on:limit:)-(DispatchQueue,_)``.
  public func receive(on actor: MainActor, limit: Int = 65_536) -> Signal {
    Signal(
      start: { observer, lifetime in
        let outbox = Outbox(observer, lifetime, limit: limit) { drain in
          if MainQueue.isCurrent {
            drain()
          } else {
            DispatchQueue.main.async { drain() }
          }
        }
        run(outbox.observer, outbox.lifetime)
      }, now: nil, emptyError: emptyError)
  }

  /// Runs the signal and receives its events on the main actor.
  ///
  /// As ``subscribe(onProgress:onNext:onFailed:onCompleted:)``, with closures that may touch what
  /// belongs to the main actor.
  @discardableResult
  public func subscribeOnMain(
    onProgress: (@MainActor @Sendable (SignalProgress) -> Void)? = nil,
    onNext: (@MainActor @Sendable (Value) -> Void)? = nil,
    onFailed: (@MainActor @Sendable (any Error) -> Void)? = nil,
    onCompleted: (@MainActor @Sendable () -> Void)? = nil
  ) -> Disposable {
    receive(on: MainActor.shared).subscribe(
      onProgress: { progress in MainActor.assumeIsolated { onProgress?(progress) } },
      onNext: { value in MainActor.assumeIsolated { onNext?(value) } },
      onFailed: { error in MainActor.assumeIsolated { onFailed?(error) } },
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } })
  }
}

/// Tells whether the running code is on the main queue, which is the main actor's executor.
///
/// `Thread.isMainThread` would not do: where `dispatchMain()` runs, there is no main thread.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) ?? false
  }
}
