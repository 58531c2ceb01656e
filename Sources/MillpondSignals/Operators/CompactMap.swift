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
