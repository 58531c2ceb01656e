public import MillpondSignals

extension Source {
  /// The values for all `keys`, in their order, each with its own failure if it has none.
  ///
  /// Every key is asked for as by ``get(_:priority:freshness:stale:deadline:file:line:)``, so flights are
  /// shared with single gets; a key that is named twice is asked for once. The one array that is sent
  /// has as many elements as there are keys: the first value of each, or why there is none, which is
  /// ``CacheError/miss`` where no layer has it. Progress is the sum. The signal itself never fails.
  ///
  /// To let many gets become one call of a bulk interface, ask a ``BulkSource`` that is batching.
  ///
  /// - Parameters:
  ///   - priority: How urgent it is.
  ///   - freshness: Which answers will do.
  ///   - stale: When a value may be the answer that is not fresh any more, where values are remembered.
  ///   - deadline: A key that has not been answered by then fails with
  ///   ``SignalError/timedOut``; those that have been are not lost.
  ///   - file: Where the question is asked.
  ///   - line: The line there.
  /// - Complexity: O(*n*) in the number of keys, constant stack.
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
          file: file,
          line: line
        ).settledOnce
      }
      return zip(answers).map { answers in order.places.map { answers[$0] } }
    }
  }
}

extension Signal {
  /// The first value, or why there is none.
  @inlinable
  var settledOnce: Signal<Result<Value, any Error>> {
    take(1).map { .success($0) }
      .ifNoValue { failure in .just(.failure(failure ?? CacheError.miss)) }
  }
}

/// Each key once, and where in that list those are that were asked for.
@usableFromInline
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
