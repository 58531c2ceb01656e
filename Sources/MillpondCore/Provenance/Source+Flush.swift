public import MillpondSignals

extension Source {
  /// Completes with a value when everything that was written before is where it outlives the process,
  /// in every layer that keeps values for longer.
  ///
  ///     cache.set(profile, for: "me")
  ///     try await cache.flush().value  // before the program ends
  ///
  /// It runs at once. Writes whose outcome has failed are not waited for. Where nothing outlives the
  /// process it succeeds.
  ///
  /// - Parameter durability: What has to be outlived: the process, or a power cut.
  /// - Returns: The outcome, replayed, which may be ignored; the first failure is reported when all layers
  ///   are done.
  @discardableResult
  public func flush(_ durability: Durability = .written) -> Signal<Void> {
    layout(for: nil).flushed(durability).started()
  }
}

extension Layout {
  /// A flush of all parts.
  func flushed(_ durability: Durability) -> Signal<Void> {
    if let flush { return flush(durability) }
    let outcomes = parts.filter(\.isFlushable).map { $0.flushed(durability).settle() }
    if outcomes.isEmpty { return .just(()) }
    return Signal.merge(outcomes).collect()
      .attemptMap { results in for result in results { try result.get() } }
  }

  private var isFlushable: Bool {
    flush != nil || parts.contains { $0.isFlushable }
  }

  /// The same, where a flush first waits for the writes that are on their way to the parts.
  package func flushed(
    after pending: @escaping @Sendable () -> Signal<Void>
  ) -> Layout {
    if !isFlushable { return self }
    // Not before they have arrived: a flush runs at once.
    return flushing { durability in
      pending().endingWith(.deferred { self.flushed(durability) })
    }
  }
}
