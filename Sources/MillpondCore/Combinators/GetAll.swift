public import MillpondSignals

extension Source {
  /// Gets the values of all `keys`, in their order; a key without a value has its own failure.
  ///
  /// Each key is got as by ``get(_:priority:freshness:stale:deadline:file:line:)``, so it shares
  /// flights with single gets; a duplicate key is got once. The signal sends one array with an
  /// element for each key: its first value, or its failure, which is ``CacheError/miss`` when no
  /// layer has a value. Progress is the sum over the keys. The signal itself never fails.
  ///
  /// To answer many gets by one bulk call, use a batching ``BulkSource``. For values or nothing,
  /// use ``values(for:priority:freshness:stale:deadline:file:line:)``. Carlos has `batchGetSome`,
  /// which drops the failures.
  ///
  /// - Parameters:
  ///   - keys: The keys, duplicates included.
  ///   - priority: The urgency of the work.
  ///   - freshness: The answers that are acceptable.
  ///   - stale: When a refreshing cache may answer with a stale value; `nil` leaves that to its
  ///     policy.
  ///   - deadline: The time limit. A key without an answer by then fails with
  ///     `SignalError.timedOut`; earlier answers are kept.
  ///   - file: The file of the call.
  ///   - line: The line of the call.
  /// - Complexity: O(*n*) in the number of keys, with constant stack depth.
  @inlinable
  public func get(
    all keys: [Key], priority: Priority = .normal, freshness: Freshness = .any,
    stale: StaleUse? = nil, deadline: Deadline? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Signal<[Result<Value, any Error>]> {
    .deferred {
      if keys.isEmpty { return .just([]) }
      let order = KeyOrder(keys)
      let answers = order.distinct.map { key in
        get(
          key, priority: priority, freshness: freshness, stale: stale, deadline: deadline,
          file: file, line: line
        ).firstResult
      }
      return zip(answers).map { answers in
        order.places.map { answers[$0] ?? .failure(CacheError.miss) }
      }
    }
  }
}

extension Source {
  /// Gets the values of all `keys`, in their order, or fails with the first failure; `batchGetAll`
  /// in Carlos.
  ///
  ///     let people = try await cache.values(for: [1, 2, 3]).value
  ///
  /// As ``get(all:priority:freshness:stale:deadline:file:line:)``, but a failure of one key ends
  /// the signal at once, and leaves the gets of the others, which are cancelled unless other
  /// callers wait for them. A key that no layer has a value for fails with ``CacheError/miss``.
  /// Keys after one that fails immediately are not got at all.
  ///
  /// - Parameters:
  ///   - keys: The keys, duplicates included.
  ///   - priority: The urgency of the work.
  ///   - freshness: The answers that are acceptable.
  ///   - stale: When a refreshing cache may answer with a stale value; `nil` leaves that to its
  ///     policy.
  ///   - deadline: The time limit; without all values by then, the signal fails with
  ///     `SignalError.timedOut`.
  ///   - file: The file of the call.
  ///   - line: The line of the call.
  /// - Complexity: O(*n*) in the number of keys, with constant stack depth.
  @inlinable
  public func values(
    for keys: [Key], priority: Priority = .normal, freshness: Freshness = .any,
    stale: StaleUse? = nil, deadline: Deadline? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Signal<[Value]> {
    .deferred {
      let order = KeyOrder(keys)
      let values = order.distinct.map { key in
        get(
          key, priority: priority, freshness: freshness, stale: stale, deadline: deadline,
          file: file, line: line
        ).take(1).ifEmpty { .fail(CacheError.miss) }
      }
      return zip(values).map { values in order.places.map { values[$0] } }
    }
  }
}

/// The distinct keys of a list, and the index among them of each key in the list.
@usableFromInline
@frozen
struct KeyOrder<Key: Hashable & Sendable>: Sendable {
  @usableFromInline var distinct: [Key] = []
  @usableFromInline var places: [Int] = []

  @inlinable
  init(_ keys: [Key]) {
    var known: [Key: Int] = [:]
    for key in keys {
      let place = known[key] ?? distinct.count
      if place == distinct.count {
        known[key] = place
        distinct.append(key)
      }
      places.append(place)
    }
  }
}
