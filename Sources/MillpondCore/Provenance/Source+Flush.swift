public import MillpondSignals

extension Source {
  /// Completes with a value when all earlier writes are stored where they outlive the process, in
  /// every layer that can do so.
  ///
  ///     cache.set(profile, for: "me")
  ///     try await cache.flush()  // before the program ends
  ///
  /// Starts at once. Writes whose outcome has failed are not waited for. Succeeds if no layer
  /// outlives the process.
  ///
  /// - Parameter durability: The event to survive: the end of the process, or a power cut.
  /// - Returns: The outcome, replayed, which may be ignored. The first failure is reported after
  ///   all layers are done.
  @discardableResult
  public func flush(_ durability: Durability = .written) -> Signal<Void> {
    topology(for: nil).flushed(durability).started()
  }

  /// Flushes, and returns when that is done: the form for asynchronous code.
  ///
  /// The flush has started when this is suspended. Cancelling the task ends the wait, with
  /// `CancellationError`, and not the flush. At the top level of a `main.swift` the compiler takes
  /// the other form, so there `try await cache.flush().value` waits.
  ///
  /// - Parameter durability: The event to survive: the end of the process, or a power cut.
  /// - Throws: The first failure, after all layers are done.
  public nonisolated(nonsending) func flush(_ durability: Durability = .written) async throws {
    try await flush(durability).value
  }
}

extension Topology {
  /// Flushes all parts.
  func flushed(_ durability: Durability) -> Signal<Void> {
    if let flush { return flush(durability) }
    return WriteOutcome.all(parts.filter(\.isFlushable).map { $0.flushed(durability) })
  }

  private var isFlushable: Bool {
    allParts.contains { $0.flush != nil }
  }

  /// Returns a copy whose flush first waits for pending writes to the parts.
  package func flushed(
    after pending: @escaping @Sendable () -> Signal<Void>
  ) -> Topology {
    if !isFlushable { return self }
    // Flushes only after they have arrived, since a flush starts at once.
    return flushing { durability in
      pending().endingWith(.deferred { self.flushed(durability) })
    }
  }
}
