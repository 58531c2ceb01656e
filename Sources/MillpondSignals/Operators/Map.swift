extension Signal {
  /// Changes each value with `transform`; progress, failure and completion pass unchanged.
  ///
  /// `transform` runs on the thread that sends the value.
  @inlinable
  public func map<NewValue>(
    _ transform: @escaping @Sendable (Value) -> NewValue
  ) -> Signal<NewValue> {
    var newNow: (@Sendable () -> NewValue?)?
    if let now { newNow = { now().map(transform) } }
    guard let start else {
      return Signal<NewValue>(start: nil, now: newNow, emptyError: emptyError)
    }
    return derived(now: newNow) { observer, lifetime in
      let next = observer.onNext  // captured alone, so that a value loads nothing else
      start(observer.replacingNext { next(transform($0)) }, lifetime)
    }
  }
}

extension Signal {
  /// Changes each value with `transform`, and drops the values for which it returns nil.
  @inlinable
  public func compactMap<NewValue>(
    _ transform: @escaping @Sendable (Value) -> NewValue?
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let next = observer.onNext
      run(observer.replacingNext { if let value = transform($0) { next(value) } }, lifetime)
    }
  }
}

extension Signal {
  /// Changes each value with `transform`; an error that it throws fails the signal.
  ///
  /// The error also stops the upstream. `transform` runs on the thread that sends the value.
  @inlinable
  public func attemptMap<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue
  ) -> Signal<NewValue> {
    attemptMap(transform) { _, error in .fail(error) }
  }

  /// Changes each value with `transform`; where that throws, another signal takes over.
  ///
  /// - Parameters:
  ///   - transform: Runs on the thread that sends the value.
  ///   - replacement: Receives the value and the error; returns the signal to continue with after
  ///     the end of the upstream.
  @inlinable
  package func attemptMap<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue,
    orElse replacement: @escaping @Sendable (Value, any Error) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { value in
          do {
            observer.next(try transform(value))
          } catch {
            upstream.end()
            replacement(value, error).run(observer, lifetime)
          }
        }, upstream)
    }
  }
}

extension Signal {
  /// Returns a signal derived from this one, with the same error for emptiness: from a cache, a
  /// miss.
  ///
  /// For operators of one signal, unless they give emptiness a new meaning.
  @inlinable
  func derived<NewValue>(
    now: (@Sendable () -> NewValue?)? = nil, _ start: @escaping Signal<NewValue>.Start
  ) -> Signal<NewValue> {
    Signal<NewValue>(start: start, now: now, emptyError: emptyError)
  }
}
