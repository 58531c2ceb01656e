extension Signal {
  /// Drops each value that is the same as the one sent before it.
  ///
  /// - Parameter isSame: Compares the last value that was sent with the new one.
  @inlinable
  public func distinct(by isSame: @escaping @Sendable (Value, Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let state = SerialState(DistinctState(next: observer.onNext, isSame: isSame))
      run(
        observer.replacingNext { value in
          if let last = state.value.last, state.value.isSame(last, value) { return }
          state.value.last = value
          state.value.next(value)
        }, lifetime)
    }
  }
}

/// The last value that was sent, and what the next one needs, so that a closure captures one object
/// alone.
@usableFromInline
struct DistinctState<Value> {
  @usableFromInline var last: Value?
  @usableFromInline let next: @Sendable (Value) -> Void
  @usableFromInline let isSame: @Sendable (Value, Value) -> Bool

  @inlinable
  init(
    next: @escaping @Sendable (Value) -> Void,
    isSame: @escaping @Sendable (Value, Value) -> Bool
  ) {
    self.next = next
    self.isSame = isSame
  }
}

extension Signal where Value: Equatable {
  /// Drops each value that equals the one before it.
  @inlinable
  public func distinct() -> Signal {
    distinct(by: ==)
  }
}
