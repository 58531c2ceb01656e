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

extension Signal {
  /// Returns the signal that `make` returns, or one that fails with the error that it throws.
  @inlinable
  package static func attempt(_ make: () throws -> Signal) -> Signal {
    do {
      return try make()
    } catch {
      return .fail(error)
    }
  }
}
