/// Which answers will do.
public enum Freshness: Sendable, Hashable {
  /// Whatever the layers still keep.
  case any

  /// What has left its origin at most so long ago; a layer with something older misses.
  case atMost(Duration)

  /// What a layer keeps, without asking an origin for it: a source that is no ``Cache`` is not asked.
  case cachedOnly

  /// A new answer from the origin, that no layer has kept; the layers keep it instead of theirs.
  ///
  /// A get that is asked while a reload is under way, and that a slow layer answers with a value it had
  /// read before, may bring that value back into a layer above. Its age comes with it, so that
  /// ``atMost(_:)`` and a policy of freshness see which one is older.
  case reload

  /// Whether a kept value of this age will do.
  @inlinable
  package func admits(age: @autoclosure () -> Duration) -> Bool {
    switch self {
    case .any, .cachedOnly: true
    case .atMost(let limit): age() <= limit
    case .reload: false
    }
  }
}

/// When a value that is not fresh any more, but still usable, may stand in for a new one.
public enum StaleUse: Sendable, Hashable {
  /// Never.
  case never

  /// When a new one can't be had, for a reason that the policy names: by default, that the origin
  /// can't be reached.
  case onNamedErrors

  /// When a new one can't be had, whatever the reason.
  case onAnyError

  /// When a new one takes longer than this, or can't be had for a reason that the policy names.
  ///
  /// The new one follows when it comes, and is fetched also if nobody waits for it. A failure that
  /// comes after the stale value, and that the policy does not name, ends the signal.
  case after(Duration)

  /// At once, and the new one follows: it is known as stale-while-revalidate.
  ///
  /// - Source: RFC 5861 §3.
  public static var atOnce: StaleUse { .after(.zero) }
}
