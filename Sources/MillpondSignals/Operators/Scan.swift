extension Signal {
  /// Sends, for each value, the result of joining it to the result so far.
  ///
  /// `initial` itself is not sent. Each run starts with it anew.
  ///
  /// - Parameters:
  ///   - initial: The result before the first value.
  ///   - next: Joins a value to the result so far, on the thread that sends the value.
  @inlinable
  public func scan<Result>(
    _ initial: Result, _ next: @escaping @Sendable (Result, Value) -> Result
  ) -> Signal<Result> {
    derived { observer, lifetime in
      let result = SerialState(initial)
      run(
        observer.replacingNext {
          let new = next(result.value, $0)
          result.value = new
          observer.next(new)
        }, lifetime)
    }
  }
}
