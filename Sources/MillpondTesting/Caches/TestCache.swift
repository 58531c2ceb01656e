public import MillpondCore
public import MillpondSignals

/// A dictionary as a cache, whose troubles are under the test's control.
///
/// It answers inside `subscribe`, has no limits, and keeps the revision and the age that it is told.
///
/// - Note: Any thread.
public final class TestCache<Key: Hashable & Sendable, Value: Sendable>: Cache, StampedSource {
  private let state = Locked(TestCacheState<Key, Value>())

  /// An empty cache.
  public init() {}

  /// What it keeps.
  public var contents: [Key: Value] {
    state.withLock { $0.contents.mapValues { $0.stamped.value } }
  }

  /// The keys it was asked for, in order.
  public var gets: [Key] {
    state.withLock { $0.gets }
  }

  /// Fails every get of `key` from now on; nil ends that.
  public func failGets(of key: Key, with error: (any Error)?) {
    state.withLock { $0.getFailures[key] = error }
  }

  /// Fails every set and fill of `key` from now on; nil ends that.
  public func failChanges(of key: Key, with error: (any Error)?) {
    state.withLock { $0.changeFailures[key] = error }
  }

  /// The value that is kept, or a miss, or the failure that was ordered.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .deferred {
      let (stamped, failure) = self.state.withLock { state in
        state.gets.append(key)
        return (state.contents[key]?.stamped, state.getFailures[key])
      }
      if let failure { return .fail(failure) }
      guard let stamped, lookup.admits(age: stamped.age) else { return .empty }
      return .just(stamped)
    }
  }

  /// Keeps or forgets, or fails as ordered.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let (outcome, forgotten) = state.withLock { state in
      (state.apply(change), state.order.takeForgotten())
    }
    _ = forgotten  // released here, not under the lock
    return outcome
  }
}
