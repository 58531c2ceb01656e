public import MillpondSignals

extension Signal {
  /// What `ask` gives, when it is its turn; an ask for what is cached only has none to wait for.
  ///
  /// The turn ends with the answer, or when the asker leaves.
  ///
  /// - Parameter take: Waits, for as long as the lifetime lasts, and then runs what it is given, with
  ///   the lifetime of the turn.
  @inlinable
  static func inTurn(
    _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal,
    _ take: @escaping @Sendable (Lifetime, @escaping @Sendable (Lifetime) -> Void) -> Void
  ) -> Signal {
    if case .cachedOnly = lookup.freshness { return .deferred(ask) }
    return Signal { asking, lifetime in
      let observer = asking.inContext(of: WorkContext.current)
      take(lifetime) { turn in
        ask().run(
          observer.replacingOther { event in
            if event.isTerminal { turn.end() }
            observer.other(event)
          }, turn)
      }
    }
  }
}
