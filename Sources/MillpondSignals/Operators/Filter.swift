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

extension Signal {
  /// Drops each value that is the same as the one sent before it.
  ///
  /// - Parameter isSame: Compares the last value that was sent with the new one.
  @inlinable
  public func distinct(by isSame: @escaping @Sendable (Value, Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let last = SerialState<Value?>(nil)
      run(
        observer.replacingNext { value in
          if let last = last.value, isSame(last, value) { return }
          last.value = value
          observer.next(value)
        }, lifetime)
    }
  }
}

extension Signal where Value: Equatable {
  /// Drops each value that equals the one before it.
  @inlinable
  public func distinct() -> Signal {
    distinct(by: ==)
  }
}
