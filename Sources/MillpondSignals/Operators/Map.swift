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
      let next = observer.onNext  // what isn't captured isn't loaded for each value either
      if StackNeeds.isLarge, !observer.canSubscribe(lifetime) { return }
      start(observer.replacingNext { next(transform($0)) }, lifetime)
    }
  }
}

extension Signal {
  /// Changes each value with `transform`, and drops those it gives nil for.
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
  /// Changes each value with `transform`; what that throws fails the signal.
  ///
  /// Then the upstream is told to stop. `transform` runs on the thread that sends the value.
  @inlinable
  public func attemptMap<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { value in
          do {
            observer.next(try transform(value))
          } catch {
            upstream.end()
            observer.failed(error)
          }
        }, upstream)
    }
  }
}

extension Signal {
  /// A signal that is made of this one, and whose emptiness still means what it means here: from a
  /// cache, a miss.
  ///
  /// What an operator of one signal returns, unless it makes an emptiness of its own.
  @inlinable
  func derived<NewValue>(
    now: (@Sendable () -> NewValue?)? = nil, _ start: @escaping Signal<NewValue>.Start
  ) -> Signal<NewValue> {
    Signal<NewValue>(start: start, now: now, emptyError: emptyError)
  }
}
