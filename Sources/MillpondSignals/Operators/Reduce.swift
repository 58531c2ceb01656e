extension Signal {
  /// Joins all values to one, which is sent when the signal completes.
  ///
  /// Without a value that is `initial`. A failure passes, and what was joined is dropped.
  ///
  /// - Parameter next: Runs on the thread that sends the value.
  @inlinable
  public func reduce<Result>(
    _ initial: Result, _ next: @escaping @Sendable (Result, Value) -> Result
  ) -> Signal<Result> {
    reducing(into: initial) { $0 = next($0, $1) }
  }

  /// As ``reduce(_:_:)``, in place.
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
