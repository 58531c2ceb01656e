extension Signal {
  /// Passes values on for as long as they satisfy `isIncluded`; the first that doesn't completes.
  ///
  /// That one is not sent, and the upstream is told to stop.
  @inlinable
  public func take(while isIncluded: @escaping @Sendable (Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { value in
          if isIncluded(value) {
            observer.next(value)
          } else {
            upstream.end()
            observer.completed()
          }
        }, upstream)
    }
  }
}
