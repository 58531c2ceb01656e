public import MillpondSignals

extension Signal {
  /// Runs the subscription in the caller's context, even if a timer's thread or another layer's
  /// answer starts it.
  ///
  /// Without it, a get that is repeated after a pause would lose its context, and wait for the slot
  /// that it holds itself.
  @inlinable
  func inContext(of caller: WorkContext?) -> Signal {
    Signal { observer, lifetime in
      WorkContext.run(in: caller) { run(observer, lifetime) }
    }
  }

  /// Makes the signal anew for each subscription, with the caller's context.
  @inlinable
  static func withCaller(_ make: @escaping @Sendable (WorkContext?) -> Signal) -> Signal {
    .deferred { make(WorkContext.current) }
  }

  /// Makes the signal anew for each subscription, with the caller's context and a fill token.
  @inlinable
  static func withCaller(
    _ lookup: Lookup, _ make: @escaping @Sendable (WorkContext?, FillToken) -> Signal
  ) -> Signal {
    Signal { observer, lifetime in
      make(WorkContext.current, FillToken(for: lookup, during: lifetime)).run(observer, lifetime)
    }
  }
}
