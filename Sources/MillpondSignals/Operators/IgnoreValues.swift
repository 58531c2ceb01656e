extension Signal {
  /// Drops all values; progress, failure and completion pass.
  ///
  ///     upload.ignoreValues(as: Page.self).concat(reload)
  ///
  /// - Parameter type: Of the values that the result pretends to have.
  @inlinable
  public func ignoreValues<NewValue>(as type: NewValue.Type = Never.self) -> Signal<NewValue> {
    Signal<NewValue> { observer, lifetime in
      run(observer.replacingNext { (_: Value) in }, lifetime)
    }
  }
}
