extension Signal {
  /// Changes each value with `transform`; what that throws fails the signal.
  ///
  /// Then the upstream is told to stop. `transform` runs on the thread that sends the value.
  @inlinable
  public func attemptMap<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { value in
          do {
            observer.next(try transform(value))
          } catch {
            upstream.end()
            observer.failed(error)
          }
        }, upstream)
    }
  }
}
