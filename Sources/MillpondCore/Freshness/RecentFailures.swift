import MillpondSignals

/// What fetches have failed with lately, of so many keys at most.
final class RecentFailures<Key: Hashable & Sendable>: Sendable {
  /// Nil costs too much to be kept: a fill of it drops what is there.
  private let failures: MemoryCache<Key, RecentFailure?>
  private let life: @Sendable (any Error) -> Duration

  init(_ clock: some Clock<Duration>, _ life: @escaping @Sendable (any Error) -> Duration) {
    failures = MemoryCache(costLimit: 1_000, policy: .leastRecentlyUsed, clock: clock) {
      $0 == nil ? .max : 1
    }
    self.life = life
  }

  /// The failure that is the answer to those who ask again, if there is one.
  func answer(_ key: Key) -> (any Error)? {
    if failures.count == 0 { return nil }
    return failures.look(key, .any, .hits).flatMap { stamped in
      stamped.value.flatMap { stamped.age < $0.life ? $0.error : nil }
    }
  }

  /// What the last fetch has failed with, if it has.
  func last(_ key: Key) -> (any Error)? {
    failures.peek(key).flatMap { $0?.error }
  }

  /// Remembers a failure, unless the key was written to since the token was drawn, or a question that
  /// was asked later has been answered, or was a reload and has failed.
  ///
  /// That a question was nested too deeply says nothing of the key.
  func keep(_ error: any Error, _ key: Key, _ token: FillToken) {
    if error.isNestedTooDeeply { return }
    _ = failures.apply(.fill(key, Stamped(RecentFailure(error: error, life: life(error))), token))
  }

  /// Forgets the failure, since the question of the token was answered: failures of that and of older
  /// questions come too late, but one of a newer question does not.
  func forget(_ key: Key, _ token: FillToken) {
    if failures.count > 0 { fillNothing(key, .any) }
    let next = Revision(number: token.revision.number + 1)
    fillNothing(key, FillToken(next, true, nil))
  }

  /// Drops what is kept for the key, if the token admits it.
  private func fillNothing(_ key: Key, _ token: FillToken) {
    _ = failures.apply(.fill(key, Stamped(nil), token))
  }

  /// Forgets the failure, since the key was written to: failures of all older questions come too late.
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

/// An error that can say whether it means that the origin could not be reached.
///
/// `URLError` and `TransferError` conform to it; let errors of your own network layer do so as well,
/// and what is remembered stands in for what can't be had, by default.
public protocol ConnectivityError: Error {
  /// Whether the origin could not be reached, or has not answered in time: there is no connection,
  /// it was lost or can't be made, the name can't be resolved, or time was up.
  var isLossOfConnectivity: Bool { get }
}

extension Error {
  /// Whether it means that the origin could not be reached, as far as it can say so.
  public var isConnectivityError: Bool {
    (self as? any ConnectivityError)?.isLossOfConnectivity ?? false
  }
}
