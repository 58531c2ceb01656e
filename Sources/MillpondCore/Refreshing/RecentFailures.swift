import MillpondSignals

/// The latest failures of fetches, for at most 1,000 keys.
final class RecentFailures<Key: Hashable & Sendable>: Sendable {
  /// Nil is too expensive to be stored, so a fill with nil drops the entry.
  private let failures: MemoryCache<Key, RecentFailure?>
  private let life: @Sendable (any Error) -> Duration

  init(_ clock: some Clock<Duration>, _ life: @escaping @Sendable (any Error) -> Duration) {
    failures = MemoryCache(costLimit: 1_000, policy: .leastRecentlyUsed, clock: clock) {
      $0 == nil ? .max : 1
    }
    self.life = life
  }

  /// Returns the failure that answers a further get of the key; nil if there is none or its time is
  /// over.
  func answer(_ key: Key) -> (any Error)? {
    if failures.count == 0 { return nil }
    return failures.look(key, .any, .hits).flatMap { stamped in
      stamped.value.flatMap { stamped.age < $0.life ? $0.error : nil }
    }
  }

  /// Returns the failure of the last fetch of the key, if it failed; a miss is none.
  func last(_ key: Key) -> (any Error)? {
    failures.peek(key).flatMap { $0?.error }.flatMap { $0.isMiss ? nil : $0 }
  }

  /// Remembers a failure, unless the key was written after the token was taken, or a later get was
  /// answered, or a later reload failed.
  ///
  /// A cancellation says nothing about the key and is not remembered. An answer without a value is
  /// a miss, which is remembered only for a life of its own, since no state shows it.
  func keep(_ error: any Error, _ key: Key, _ token: FillToken) {
    if error.isCancellation { return }
    let life = life(error)
    if error.isMiss, life <= .zero { return }
    _ = failures.apply(.fill(key, Stamped(RecentFailure(error: error, life: life)), token))
  }

  /// Forgets the failure after the get of the token was answered.
  ///
  /// Failures of that get and of older ones are then refused; one of a newer get is not.
  func forget(_ key: Key, _ token: FillToken) {
    if failures.count > 0 { fillNothing(key, .any) }
    fillNothing(key, FillToken(token.revision.successor, true, nil))
  }

  /// Drops the entry of the key, if the token admits it.
  private func fillNothing(_ key: Key, _ token: FillToken) {
    _ = failures.apply(.fill(key, Stamped(nil), token))
  }

  /// Forgets the failure after the key was written; failures of all older gets are refused.
  func forget(_ key: Key) {
    failures.remove(key)
  }

  /// The keys whose last fetch failed.
  var keys: [Key] {
    failures.count == 0 ? [] : failures.snapshot().map(\.key)
  }

  func forgetAll() {
    failures.removeAll()
  }
}

extension Error {
  /// Whether the error says that there is no value.
  var isMiss: Bool {
    if case .miss? = self as? CacheError { true } else { false }
  }
}

private struct RecentFailure: Sendable {
  let error: any Error
  let life: Duration
}
