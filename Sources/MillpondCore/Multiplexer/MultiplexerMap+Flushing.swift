public import MillpondSignals

extension MultiplexerMap {
  /// Completes when all values in memory are stored where they outlive the process.
  ///
  /// Starts at once, waits for changes that are under way, and repeats those that could not be
  /// saved: values still in memory are saved, and values that are not in memory any more are
  /// removed. If more keys could not be saved than are noted, everything older is removed there
  /// first, and then all values in memory are saved. The same happens after a removal by predicate
  /// that could not be saved.
  ///
  /// - Returns: The outcome, replayed. It fails if a change still can't be saved; the values stay
  ///   in memory, and the next flush tries again.
  /// - Complexity: O(*n*) in the keys that could not be saved, of which 4,096 are noted; beyond
  ///   that in the values in memory.
  @discardableResult
  public func flush() -> Signal<Void> {
    flush(.written)
  }

  /// Does the same with a durability of the caller's choice.
  @discardableResult
  public func flush(_ durability: Durability) -> Signal<Void> {
    // A write that fails while the first attempt waits for it was unknown when that attempt began.
    attemptFlush(durability).flatMap { [self] in
      unsaved.isEmpty ? .just(()) : attemptFlush(durability)
    }.started()
  }

  private func attemptFlush(_ durability: Durability) -> Signal<Void> {
    let backlog = unsaved.beginFlush()
    var outcomes = unsaved.ends
    // A store may carry out what is under way only when it is flushed.
    if !outcomes.isEmpty { outcomes += [persistence.cache.flush(durability), persistence.flush()] }
    if let removal = backlog.removal { outcomes.append(store.apply(.removeAll(removal))) }
    outcomes += backlog.failures.compactMap { retry($0.key, $0.value) }
    if backlog.isOfAll || backlog.removal != nil {
      outcomes += memory.snapshot().compactMap { save($0.key) }
    }
    // Only then, so that what is saved has the durability too.
    let flushed = WriteOutcome.all(outcomes).settle().flatMap { [persistence] saved in
      WriteOutcome.all([
        Signal.just(()).attemptMap { try saved.get() }, persistence.cache.flush(durability),
        persistence.flush(),
      ])
    }
    return flushed.settle()
      .onNext { [watchers = remembered.inside.watchers] _ in
        if !backlog.isEmpty { watchers.send(.flushed, of: nil) }
      }
      .attemptMap { try $0.get() }
  }

  /// The store below memory.
  var store: HidingUnsaved<AnyCache<Key, Value>> {
    remembered.inside.store.lower
  }

  /// Saves the value; if it is no longer in memory, removes the one that it should have replaced.
  private func retry(_ key: Key, _ failure: Backlog<Key>.Failure) -> Signal<Void>? {
    // Taken first: a write may reach memory, and end, after the look there.
    let earliest = writes.earliest
    if let saved = save(key) { return saved }
    // The value may be on its way to memory: its write has failed below, and goes on there.
    if earliest <= failure.revision {
      return writes.ended().flatMap { [self] in retry(key, failure) ?? .just(()) }
    }
    // With the old revision, so that any later write wins.
    if failure.hasRemains { return store.apply(.remove(key, failure.revision)) }
    unsaved.forget(key, failure)
    return nil
  }

  /// Saves the value in memory; returns the outcome, or nil if there is no value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - attempts: The greatest number of tries if other writes come between.
  private func save(_ key: Key, attempts: Int = 16) -> Signal<Void>? {
    // Taken before the value is looked up, so that later writes win, as do those that may have reached
    // the store, but not memory.
    let token = FillToken(min(.next(), writes.earliest), false, nil)
    return memory.peekStamped(key).map { stamped in
      store.apply(.fill(key, stamped, token)).ifEmpty { [self] in
        if attempts == 1 { return .just(()) }
        return writes.ended().flatMap { [self] in
          save(key, attempts: attempts - 1) ?? .just(())
        }
      }
    }
  }
}
