public import MillpondSignals

extension MultiplexerMap {
  /// Completes when all that is remembered is where it outlives the process.
  ///
  /// It runs at once, and tries again what could not be kept there before.
  ///
  /// - Returns: The outcome, replayed; it fails if something can't be kept still. Nothing is lost by
  ///   that: it is in memory, and the next flush tries again.
  @discardableResult
  public func flush() -> Signal<Void> {
    flush(.written)
  }

  /// The same, for a durability of the caller's choice.
  @discardableResult
  public func flush(_ durability: Durability) -> Signal<Void> {
    let retries = unsaved.all.compactMap { key, removal in
      // By its old revision: what was told since wins.
      removal.map { store.apply(.remove(key, $0)) } ?? save(key)
    }
    let flushes = [persistence.cache.flush(durability), persistence.flush()]
    return Signal.merge((retries + flushes).map { $0.settle() }).collect()
      .attemptMap { results in for result in results { try result.get() } }.started()
  }

  private var store: Saving<AnyCache<Key, Value>> {
    remembered.inside.store.lower
  }

  private func save(_ key: Key) -> Signal<Void>? {
    // Before the value is looked at: what is written from then on wins.
    let token = FillToken()
    return memory.peekStamped(key).map { store.apply(.fill(key, $0, token)) }
  }
}
