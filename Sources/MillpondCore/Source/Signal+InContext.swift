public import MillpondSignals

extension Signal {
  /// Is subscribed to in the context of whoever asked, though that may be by the thread of a timer,
  /// or of another layer's answer.
  ///
  /// Without it, who asks again after a pause would be a stranger: it would wait for the slot that is
  /// held for its own sake.
  @inlinable
  func inContext(of asker: WorkContext?) -> Signal {
    Signal { observer, lifetime in
      WorkContext.run(in: asker) { run(observer, lifetime) }
    }
  }

  /// Makes the signal of whoever asks, anew for each subscription.
  @inlinable
  static func asked(_ make: @escaping @Sendable (WorkContext?) -> Signal) -> Signal {
    .deferred { make(WorkContext.current) }
  }

  /// Makes the signal of whoever asks, with the permission to store what a lower layer answers.
  @inlinable
  static func asked(
    _ lookup: Lookup, _ make: @escaping @Sendable (WorkContext?, FillToken) -> Signal
  ) -> Signal {
    Signal { observer, lifetime in
      make(WorkContext.current, FillToken(for: lookup, during: lifetime)).run(observer, lifetime)
    }
  }
}
