public import Synchronization

extension Signal {
  /// Runs `act` for each value, before it is passed on.
  @inlinable
  public func onNext(_ act: @escaping @Sendable (Value) -> Void) -> Signal {
    map {
      act($0)
      return $0
    }
  }

  /// Runs `act` once when a run ends, however it ends.
  ///
  /// It runs before the terminal event is passed on, or when the subscriber leaves.
  @inlinable
  public func onEnd(_ act: @escaping @Sendable (Ending) -> Void) -> Signal {
    derived { observer, lifetime in
      let isDone = AtomicValue(false)
      let finish: @Sendable (Ending) -> Void = { ending in
        if !isDone.exchange(true, ordering: .relaxed) { act(ending) }
      }
      lifetime.onEnd { finish(.disposed) }
      run(
        Observer(next: observer.onNext) { event in
          switch event {
          case .progress: break
          case .failed(let error): finish(lifetime.isEnded ? .disposed : .failed(error))
          case .completed: finish(.completed)
          }
          observer.other(event)
        }, lifetime)
    }
  }
}

/// The way in which a run of a signal ended.
public enum Ending: Sendable {
  /// The run completed.
  case completed

  /// The run failed.
  case failed(any Error)

  /// The subscriber left before the end.
  case disposed
}
