extension Signal {
  /// Drops the first `count` values.
  ///
  /// - Parameter count: The number of values; with zero or less, none is dropped.
  @inlinable
  public func skip(_ count: Int) -> Signal {
    guard count > 0 else { return self }
    return derived { observer, lifetime in
      let left = SerialState(count)
      run(
        observer.replacingNext { value in
          if left.value > 0 {
            left.value -= 1
          } else {
            observer.next(value)
          }
        }, lifetime)
    }
  }
}
