extension Signal {
  /// Passes on the values that satisfy `isIncluded`.
  @inlinable
  public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let next = observer.onNext
      run(observer.replacingNext { if isIncluded($0) { next($0) } }, lifetime)
    }
  }
}

extension Signal {
  /// Drops all values; progress, failure and completion pass.
  ///
  ///     upload.ignoreValues(as: Page.self).concat(reload)
  ///
  /// - Parameter type: The value type of the result, which never sends a value.
  @inlinable
  public func ignoreValues<NewValue>(as type: NewValue.Type = Never.self) -> Signal<NewValue> {
    Signal<NewValue> { observer, lifetime in
      run(observer.replacingNext { (_: Value) in }, lifetime)
    }
  }
}
