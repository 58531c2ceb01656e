extension Signal {
  /// Sends `value` before anything else.
  @inlinable
  public func startWith(_ value: Value) -> Signal {
    Signal { observer, lifetime in
      observer.next(value)
      if !lifetime.isEnded { run(observer, lifetime) }
    }
  }
}
