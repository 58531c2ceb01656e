extension Signal {
  /// Drops each value that is the same as the one sent before it.
  ///
  /// - Parameter isSame: Compares the last value that was sent with the new one.
  @inlinable
  public func distinct(by isSame: @escaping @Sendable (Value, Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let last = SerialState(Value?.none)
      run(
        observer.replacingNext { value in
          if let former = last.value, isSame(former, value) { return }
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
