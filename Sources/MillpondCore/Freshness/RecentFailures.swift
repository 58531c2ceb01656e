import MillpondSignals

/// What fetches have failed with lately, of so many keys at most.
final class RecentFailures<Key: Hashable & Sendable>: Sendable {
  private let failures: MemoryCache<Key, RecentFailure>
  private let life: @Sendable (any Error) -> Duration

  init(_ clock: some Clock<Duration>, _ life: @escaping @Sendable (any Error) -> Duration) {
    failures = MemoryCache(countLimit: 1_000, policy: .leastRecentlyUsed, clock: clock)
    self.life = life
  }

  /// The failure that is the answer to those who ask again, if there is one.
  func answer(_ key: Key) -> (any Error)? {
    if failures.count == 0 { return nil }
    return failures.look(key, .any, .hits).flatMap {
      $0.age < $0.value.life ? $0.value.error : nil
    }
  }

  /// What the last fetch has failed with, if it has.
  func last(_ key: Key) -> (any Error)? {
    failures.peek(key)?.error
  }

  /// Remembers a failure, unless the key was written to since the token was drawn.
  func keep(_ error: any Error, _ key: Key, _ token: FillToken) {
    _ = failures.apply(.fill(key, Stamped(RecentFailure(error: error, life: life(error))), token))
  }

  func forget(_ key: Key) {
    failures.remove(key)
  }

  func forgetAll() {
    failures.removeAll()
  }
}

private struct RecentFailure: Sendable {
  let error: any Error
  let life: Duration
}
