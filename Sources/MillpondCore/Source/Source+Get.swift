public import MillpondSignals

extension Source {
  /// The value for `key`, as a signal: what is there, or else what comes.
  ///
  /// A value that is in memory is delivered inside `subscribe`. Disposing of the subscription gives
  /// up the work that nobody else waits for.
  ///
  /// - Parameters:
  ///   - priority: How urgent it is.
  ///   - freshness: Which answers will do.
  ///   - stale: When a value may be the answer that is not fresh any more, where values are remembered:
  ///     see ``Source/remembered(in:_:clock:)``. Nil leaves it to the policy there.
  ///   - deadline: Fails with ``SignalError/timedOut`` if the end has not come by then.
  ///   - file: Where the question is asked, which debug builds note in a ``FlightRecord``.
  ///   - line: The line there.
  /// - Returns: A signal that completes empty if no layer has a value, and fails if the last layer
  ///   that had trouble leaves no answer. Its `value` throws ``CacheError/miss`` when it is empty.
  @inlinable
  public func get(
    _ key: Key, priority: Priority = .normal, freshness: Freshness = .any,
    stale: StaleUse? = nil, deadline: Deadline? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Signal<Value> {
    let lookup = Lookup(
      priority: priority, freshness: freshness, stale: stale, deadline: deadline,
      place: noted(file, line))
    return Signal(
      start: { observer, lifetime in
        if isBeside(freshness) {
          observer.completed()
        } else if let deadline {
          get(key, lookup).ended(by: deadline).run(observer, lifetime)
        } else {
          get(key, lookup).run(observer, lifetime)
        }
      },
      now: { isBeside(freshness) ? nil : now(key, lookup) },
      emptyError: Miss.self)
  }

  /// Where a question is asked, in debug builds.
  @inlinable
  func noted(_ file: StaticString, _ line: UInt) -> String? {
    var place: String?
    assert(
      {
        place = "\(file):\(line)"
        return true
      }())
    return place
  }

  /// Whether asking is beside the point: what is not a ``Cache`` is an origin, that keeps nothing
  /// for those who want only what is kept.
  @inlinable
  func isBeside(_ freshness: Freshness) -> Bool {
    if case .cachedOnly = freshness { !(self is any Cache) } else { false }
  }

  /// Whether this keeps values, also behind erasure.
  @usableFromInline
  var isCache: Bool {
    (self as? any ErasedSource)?.isOfCache ?? (self is any Cache)
  }
}

/// What hides which cache or source it is.
protocol ErasedSource {
  /// Whether a cache is inside.
  var isOfCache: Bool { get }
}

/// Why a cache's signal is empty.
@usableFromInline
enum Miss: Emptiness {
  @usableFromInline static var error: any Error { CacheError.miss }
}
