public import MillpondSignals

extension Cache {
  /// Stores several values, at once.
  ///
  /// Gets made after this returns see all of them; a get meanwhile may see some. Each value is a
  /// write of its own, as by ``set(_:for:)``: later writes of single keys win, and the failure of
  /// one key keeps no other from being stored.
  ///
  /// - Parameter values: The values by their keys.
  /// - Returns: The outcome of all, which may be ignored; disposing of it cancels nothing. When all
  ///   have ended, it fails with ``CacheError/partlyWritten(failures:count:)`` if any failed.
  /// - Complexity: O(*n*), with constant stack depth.
  @inlinable
  @discardableResult
  public func set(all values: [Key: Value]) -> Signal<Void> {
    WriteOutcome.named(values.lazy.map { ($0.key, set($0.value, for: $0.key)) })
  }

  /// Removes the values of several keys, at once.
  ///
  /// Each key is a write of its own, as by ``remove(_:)``.
  ///
  /// - Parameter keys: The keys; one that is named twice is removed twice.
  /// - Returns: The outcome of all, which may be ignored; disposing of it cancels nothing. When all
  ///   have ended, it fails with ``CacheError/partlyWritten(failures:count:)`` if any failed.
  /// - Complexity: O(*n*), with constant stack depth.
  @inlinable
  @discardableResult
  public func remove(all keys: some Sequence<Key>) -> Signal<Void> {
    WriteOutcome.named(keys.lazy.map { ($0, remove($0)) })
  }
}

extension WriteOutcome {
  /// Carries out the writes of a sequence, each of a key, and joins their outcomes.
  ///
  /// Succeeds when all have succeeded; fails with ``CacheError/partlyWritten(failures:count:)``
  /// when all have ended.
  @inlinable
  package static func named<Key: Hashable & Sendable>(
    _ writes: some Sequence<(Key, Signal<Void>)>
  ) -> Signal<Void> {
    var pending: [Signal<(key: Key, error: any Error)>] = []
    var count = 0
    for (key, outcome) in writes {
      count += 1
      if !outcome.isDone { pending.append(failure(of: key, outcome)) }
    }
    return pending.isEmpty ? .just(()) : joined(pending, count)
  }

  /// Sends the failure of a write, if it fails.
  @usableFromInline
  static func failure<Key: Hashable & Sendable>(
    of key: Key, _ outcome: Signal<Void>
  ) -> Signal<(key: Key, error: any Error)> {
    outcome.settle().compactMap { result in
      if case .failure(let error) = result { (key, error) } else { nil }
    }
  }

  @usableFromInline
  static func joined<Key: Hashable & Sendable>(
    _ failures: [Signal<(key: Key, error: any Error)>], _ count: Int
  ) -> Signal<Void> {
    Signal.merge(failures).collect().attemptMap { failures in
      if failures.isEmpty { return }
      throw CacheError.partlyWritten(failures: failures.map { ($0.key, $0.error) }, count: count)
    }.started()
  }
}
