extension Signal {
  /// Makes the signal anew for each subscription.
  ///
  /// - Parameter make: Returns the signal of a subscription; called when that begins.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () -> Signal) -> Signal {
    let parts = SignalParts(.deferred(make))
    return Signal(
      start: { observer, lifetime in
        if case .deferred(let make) = parts.kind { make().run(observer, lifetime) }
      }, now: nil, emptyError: nil, parts: parts)
  }
}
