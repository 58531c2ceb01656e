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
