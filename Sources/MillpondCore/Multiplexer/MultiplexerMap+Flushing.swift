public import MillpondSignals

extension MultiplexerMap {
  /// Completes when all that is in memory is where it outlives the process.
  ///
  /// It runs at once, and tries again what could not be saved before: values that are still in memory are
  /// saved, and what must not be there any more is removed. Where too many keys could not be saved to note
  /// each, everything older is removed there first, and then all that is in memory is saved.
  ///
  /// - Returns: The outcome, replayed; it fails if something can't be saved still. Nothing is lost by
  ///   that: it is in memory, and the next flush tries again.
  /// - Complexity: O(*n*) in the keys that could not be saved, of which 4,096 are noted; beyond that in the
  ///   values in memory.
  @discardableResult
  public func flush() -> Signal<Void> {
    flush(.written)
  }

  /// The same, for a durability of the caller's choice.
  @discardableResult
  public func flush(_ durability: Durability) -> Signal<Void> {
    // What fails while the first attempt waits for it was not known when that began.
    attemptFlush(durability).flatMap { [self] in
      unsaved.isEmpty ? .just(()) : attemptFlush(durability)
    }.started()
  }

  private func attemptFlush(_ durability: Durability) -> Signal<Void> {
    let backlog = unsaved.beginFlush()
    var outcomes: [Signal<Void>] = []
    if let removal = backlog.removal { outcomes.append(store.apply(.removeAll(removal))) }
    outcomes += backlog.failures.compactMap { retry($0.key, $0.value) }
    if backlog.isOfAll || backlog.removal != nil {
      outcomes += memory.snapshot().compactMap { save($0.key) }
    }
    outcomes += [persistence.cache.flush(durability), persistence.flush()]
    return Signal.merge(outcomes.map { $0.settle() }).collect()
      .onNext { [watchers] _ in if !backlog.isEmpty { watchers.tell(nil, .settled) } }
      .attemptMap { results in for result in results { try result.get() } }
  }

  /// What is below memory.
  var store: Saving<AnyCache<Key, Value>> {
    remembered.inside.store.lower
  }

  /// Saves the value, or, if it is not in memory any more, removes what it should have replaced.
  private func retry(_ key: Key, _ failure: Backlog<Key>.Failure) -> Signal<Void>? {
    if let saved = save(key) { return saved }
    // By its old revision: what was written since wins.
    if failure.hasRemains { return store.apply(.remove(key, failure.revision)) }
    unsaved.forget(key, failure)
    return nil
  }

  /// - Parameter attempts: How often a save may be refused because another write came between.
  private func save(_ key: Key, attempts: Int = 16) -> Signal<Void>? {
    // Before the value is looked at: what is written from then on wins.
    let token = FillToken()
    return memory.peekStamped(key).map { stamped in
      store.apply(.fill(key, stamped, token)).ifEmpty { [self] in
        (attempts > 1 ? save(key, attempts: attempts - 1) : nil) ?? .just(())
      }
    }
  }
}
