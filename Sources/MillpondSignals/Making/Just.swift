extension Signal {
  /// Sends `value` and completes.
  @inlinable
  public static func just(_ value: Value) -> Signal {
    Signal(start: nil, now: { value })
  }

  /// Completes without a value.
  @inlinable
  public static var empty: Signal {
    Signal { observer, _ in observer.completed() }
  }

  /// Fails with `error`.
  @inlinable
  public static func fail(_ error: any Error) -> Signal {
    Signal { observer, _ in observer.failed(error) }
  }

  /// Sends nothing, ever, not even an end.
  @inlinable
  public static var never: Signal {
    Signal { _, _ in }
  }

  /// Makes the signal anew for each subscription.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () -> Signal) -> Signal {
    let parts = SignalParts(.deferred(make))
    return Signal(
      start: { observer, lifetime in
        if case .deferred(let make) = parts.kind { make().run(observer, lifetime) }
      }, now: nil, emptyError: nil, parts: parts)
  }
}
