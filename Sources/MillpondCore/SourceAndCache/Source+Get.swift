public import MillpondSignals

extension Source {
  /// Returns the value for `key`, as a signal: a stored value, or else a fetched one.
  ///
  /// A value in memory is delivered inside `subscribe`. Disposing of the subscription cancels work
  /// that no other caller waits for.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - priority: The urgency of the work.
  ///   - freshness: The answers that the get accepts.
  ///   - stale: The use of stale values in a refreshing cache (``Source/remembered(in:_:clock:)``);
  ///     nil leaves it to its policy.
  ///   - deadline: The time limit of the caller: the get fails with `SignalError.timedOut` if it
  ///     has not ended by then.
  ///   - file: The file of the call, which debug builds show in a ``FlightRecord``.
  ///   - line: The line of the call.
  /// - Returns: A signal that completes empty if no layer has a value and none failed, and fails
  ///   with the last failure if no layer has a value. Its `value` throws ``CacheError/miss`` when
  ///   it is empty.
  @inlinable
  public func get(
    _ key: Key, priority: Priority = .normal, freshness: Freshness = .any,
    stale: StaleUse? = nil, deadline: Deadline? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Signal<Value> {
    let lookup = Lookup(
      priority: priority, freshness: freshness, stale: stale, deadline: deadline,
      place: placeInCode(file, line))
    return Signal(
      start: { observer, lifetime in
        if isBeside(freshness) {
          observer.completed()
        } else if let deadline {
          get(key, lookup).ended(by: deadline) { String(withoutSecrets: key) }.run(
            observer, lifetime)
        } else {
          get(key, lookup).run(observer, lifetime)
        }
      },
      now: { isBeside(freshness) ? nil : now(key, lookup) },
      emptyError: Miss.self)
  }

  /// Returns the value for `key` if it is available immediately, as from memory.
  ///
  /// A value counts as a hit in statistics and for eviction; nil is not counted.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - freshness: The values that the caller accepts.
  @inlinable
  public func now(_ key: Key, freshness: Freshness = .any) -> Value? {
    isBeside(freshness) ? nil : now(key, Lookup(freshness: freshness))
  }

  /// Whether a get need not ask this source: it wants a stored value, and this is an origin and no
  /// ``Cache``.
  @inlinable
  func isBeside(_ freshness: Freshness) -> Bool {
    if case .cachedOnly = freshness { !(self is any Cache) } else { false }
  }
}

/// The error of an empty answer.
@usableFromInline
enum Miss: Emptiness {
  @usableFromInline static var error: any Error { CacheError.miss }
}
