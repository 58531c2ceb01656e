public import MillpondCore
public import MillpondSignals

/// A dictionary as a cache, with failures under the test's control.
///
/// It answers inside `subscribe`, has no limits, and keeps the revision and the age of what it is
/// given.
///
/// - Note: Any thread.
public final class TestCache<Key: Hashable & Sendable, Value: Sendable>: Cache, AnsweringSource {
  private let state = Locked(TestCacheState<Key, Value>())
  private let removals = RemovalsByPredicate<Key>()

  /// Creates an empty cache.
  public init() {}

  /// The stored values.
  public var contents: [Key: Value] {
    state.withLock { $0.contents.mapValues { $0.stamped.value } }
  }

  /// The keys of all gets, in order of subscription.
  public var gets: [Key] {
    state.withLock { $0.gets }
  }

  /// Fails every get of `key` from now on; nil ends that.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - error: The failure; nil for none.
  public func failGets(of key: Key, with error: (any Error)?) {
    state.withLock { $0.getFailures[key] = error }
  }

  /// Fails every set and fill of `key` from now on; nil ends that.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - error: The failure; nil for none.
  public func failChanges(of key: Key, with error: (any Error)?) {
    state.withLock { $0.changeFailures[key] = error }
  }

  /// Returns the stored value, a miss, or the configured failure.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    .deferred {
      let (stamped, failure) = self.state.withLock { state in
        state.gets.append(key)
        return (state.contents[key]?.stamped, state.getFailures[key])
      }
      if let failure { return .fail(failure) }
      guard let stamped else { return .empty }
      return .just(lookup.admits(age: stamped.age) ? .value(stamped) : .outdated(stamped))
    }
  }

  /// Stores or removes, or fails as configured.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, _, let revision):
      applyCompared(change, refused: .just(())) { removals.compare(key, revision) }
    case .fill(let key, _, let token):
      applyCompared(change, refused: .empty) { removals.compare(key, token) }
    case .remove: applyCompared(change, refused: .just(())) { .max }
    case .removeAll:
      applyCompared(change, refused: .just(())) { .max }
    case .removeMatching(let predicate, let revision): removeMatching(predicate, revision)
    }
  }

  /// Applies a change once it has been compared with all removals by predicate.
  private func applyCompared(
    _ change: Change<Key, Value>, refused: Signal<Void>, _ compare: () -> Int?
  ) -> Signal<Void> {
    while let compared = compare() {
      let (outcome, forgotten) = state.withLock { state in
        (state.apply(change, compared), state.order.takeForgotten())
      }
      withExtendedLifetime(forgotten) {}  // released here, not under the lock
      if let outcome { return outcome }
    }
    return refused
  }

  private func removeMatching(
    _ predicate: KeyPredicate<Key>, _ revision: Revision
  ) -> Signal<Void> {
    let place = removals.add(predicate, revision)
    let keys = state.withLock { state in
      state.order.noteRemoval(revision, place)
      return Array(state.contents.keys)
    }
    for key in keys where predicate.isSatisfied(by: key) { _ = apply(.remove(key, revision)) }
    return .just(())
  }
}

/// The entries of a test cache, the order of its writes, and its configured failures.
struct TestCacheState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  var contents: [Key: (stamped: Stamped<Value>, revision: Revision)] = [:]
  var order = WriteOrder<Key>()
  var getFailures: [Key: any Error] = [:]
  var changeFailures: [Key: any Error] = [:]
  var gets: [Key] = []

  /// Applies a change of a key, or of all; nil if it has to be compared with a removal by predicate
  /// first.
  mutating func apply(_ change: Change<Key, Value>, _ compared: Int) -> Signal<Void>? {
    switch change {
    case .set(let key, let stamped, let revision):
      if order.mustCompare(revision, compared: compared) { return nil }
      if let failure = changeFailures[key] { return .fail(failure) }
      if order.admit(key, revision) { contents[key] = (stamped, revision) }
    case .fill(let key, let stamped, let token):
      if order.mustCompare(token, compared: compared) { return nil }
      if let failure = changeFailures[key] { return .fail(failure) }
      if token.isRenewal { return renew(key, stamped, token) }
      guard order.admit(token, for: key) else { return .empty }
      contents[key] = (stamped, contents[key]?.revision ?? .none)
    case .remove(let key, let revision):
      if order.admit(key, revision) { contents[key] = nil }
    case .removeAll(let revision):
      if order.admitAll(revision) { contents = contents.filter { $0.value.revision > revision } }
    case .removeMatching: break
    }
    return .just(())
  }

  /// Gives the stored value new times, if there is one that the renewal is about.
  private mutating func renew(
    _ key: Key, _ stamped: Stamped<Value>, _ token: FillToken
  ) -> Signal<Void> {
    guard let present = contents[key], present.stamped.validator == stamped.validator,
      order.admit(token, for: key)
    else { return .empty }
    contents[key] = (stamped.map { _ in present.stamped.value }, present.revision)
    return .just(())
  }
}
