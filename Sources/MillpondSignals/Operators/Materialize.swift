extension Signal {
  /// Sends values and the end as values, and then completes; never fails.
  ///
  /// Progress passes as progress, not as a value.
  @inlinable
  public func materialize() -> Signal<Event<Value>> {
    derived { observer, lifetime in
      run(
        Observer(next: { observer.next(.next($0)) }) { event in
          guard event.isTerminal else { return observer.other(event) }
          observer.next(event.typed())
          if !lifetime.isEnded { observer.completed() }
        }, lifetime)
    }
  }
}

extension Signal {
  /// Sends each value as a success, and a failure as the last value; never fails.
  ///
  /// One failure then does not end an operator that joins several signals: `zip(requests.map {
  /// $0.settle() })`.
  @inlinable
  public func settle() -> Signal<Result<Value, any Error>> {
    materialize().compactMap { event in
      switch event {
      case .next(let value): .success(value)
      case .failed(let error): .failure(error)
      case .progress, .completed: nil
      }
    }
  }
}

extension Signal {
  /// Sends the events that arrive as values; the inverse of ``materialize()``.
  ///
  /// The first terminal one ends the signal and stops the upstream. Progress and the end of the
  /// upstream itself pass, too.
  @inlinable
  public func dematerialize<Inner>() -> Signal<Inner> where Value == Event<Inner> {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { event in
          if event.isTerminal { upstream.end() }
          observer.send(event)
        }, upstream)
    }
  }
}
