import MillpondSignals

/// The keys that a removal concerns, described by a closure.
///
/// The layers of a composition call it without any lock, from any thread, and more than once for a
/// key. The caches that know earlier writes or gets to be under way keep it until these have
/// arrived.
public struct KeyPredicate<Key: Sendable>: Sendable {
  private let body: @Sendable (Key) throws -> Bool
  private let failure: Locked<(any Error)?>

  /// Creates a predicate.
  ///
  /// - Parameter body: Returns whether a key is removed. A key for which it throws is not.
  public init(_ body: @escaping @Sendable (Key) throws -> Bool) {
    self.init(body, Locked(nil))
  }

  private init(
    _ body: @escaping @Sendable (Key) throws -> Bool, _ failure: Locked<(any Error)?>
  ) {
    self.body = body
    self.failure = failure
  }

  /// Returns whether a key is removed; must be called without a lock.
  public func isSatisfied(by key: Key) -> Bool {
    do {
      return try body(key)
    } catch {
      failure.discard { failure in
        defer { failure = failure ?? error }
        return failure
      }
      return false
    }
  }

  /// Returns the same predicate for other keys; those without a counterpart do not satisfy it.
  @usableFromInline
  func mapped<NewKey: Sendable>(
    _ transform: @escaping @Sendable (NewKey) throws -> Key?
  ) -> KeyPredicate<NewKey> {
    KeyPredicate<NewKey>({ key in try transform(key).map { try body($0) } ?? false }, failure)
  }

  /// Returns the outcome of a removal, which fails with the first error that the closure threw.
  func outcome(of removal: Signal<Void>) -> Signal<Void> {
    let check = { @Sendable [failure] in
      if let error = failure.withLock({ $0 }) { throw error }
    }
    return removal.attemptMap { try check() }.started()
  }
}
