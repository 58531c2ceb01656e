public import MillpondSignals

/// A limit under which gets wait for their turn.
@usableFromInline
protocol TurnLimiter: Sendable {
  /// A description of the limit.
  var title: String { get }

  /// The greatest number of gets that wait.
  var maxWaiting: Int { get }

  /// Calls `work` in the turn of a get, with the lifetime of the turn; never if `lifetime` ends
  /// first.
  ///
  /// - Returns: False if too many gets wait already; then `work` is never called.
  func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) -> Bool
}

extension TurnLimiter {
  /// The error of a get that would have to wait beside too many others.
  @usableFromInline
  func refusal(of key: String) -> any Error {
    CacheError.tooManyWaiting(key: key, layer: title, limit: maxWaiting)
  }
}

extension Signal {
  /// Runs the signal of `ask` in its turn; a get with ``Freshness/cachedOnly`` needs none.
  ///
  /// The turn ends with the answer, or when the caller leaves. A get that may not wait fails with
  /// ``CacheError/tooManyWaiting(key:layer:limit:)``.
  ///
  /// - Parameters:
  ///   - limiter: The limit.
  ///   - lookup: The terms of the get.
  ///   - ask: Makes the signal.
  ///   - key: Returns the text of the key for the error.
  @inlinable
  static func inTurn(
    of limiter: some TurnLimiter, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal,
    key: @escaping @Sendable () -> String
  ) -> Signal {
    if case .cachedOnly = lookup.freshness { return .deferred(ask) }
    return Signal { observer, lifetime in
      let caller = WorkContext.current
      let mayWait = limiter.take(lookup, lifetime) { turn in
        ask().run(observer.inContext(of: caller, ending: turn), turn)
      }
      if !mayWait { observer.failed(limiter.refusal(of: key())) }
    }
  }
}
