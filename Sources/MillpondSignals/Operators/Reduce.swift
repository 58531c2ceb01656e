extension Signal {
  /// Joins all values to one result, which is sent when the signal completes.
  ///
  /// Without a value the result is `initial`. A failure passes, and the result is dropped.
  ///
  /// - Parameters:
  ///   - initial: The result before the first value.
  ///   - next: Joins a value to the result so far, on the thread that sends the value.
  @inlinable
  public func reduce<Result>(
    _ initial: Result, _ next: @escaping @Sendable (Result, Value) -> Result
  ) -> Signal<Result> {
    reducing(into: initial) { $0 = next($0, $1) }
  }

  /// Joins all values to one result in place, see ``reduce(_:_:)``.
  @inlinable
  func reducing<Result>(
    into initial: Result, _ update: @escaping @Sendable (inout Result, Value) -> Void
  ) -> Signal<Result> {
    derived { observer, lifetime in
      let result = SerialState(initial)
      run(
        Observer(next: { update(&result.value, $0) }) { event in
          if case .completed = event { observer.next(result.value) }
          if !lifetime.isEnded { observer.other(event) }
        }, lifetime)
    }
  }
}

extension Signal {
  /// Sends the last value that satisfies `isWanted` when the signal completes.
  ///
  /// Completes without a value if none does. A failure passes, and the value is dropped.
  ///
  /// - Parameter isWanted: Satisfied by any value by default.
  @inlinable
  public func last(
    where isWanted: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Signal {
    reducing(into: Value?.none) { if isWanted($1) { $0 = $1 } }.compactMap { $0 }
  }
}
