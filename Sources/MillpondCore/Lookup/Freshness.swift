/// The answers that a get accepts.
public enum Freshness: Sendable, Hashable {
  /// Any value that a layer still has.
  case any

  /// A value that left its origin at most this long ago; a layer with an older one misses.
  ///
  /// With a negative age every stored value is too old, and a fetch that runs already is joined,
  /// which ``reload`` does not do.
  case atMost(Duration)

  /// A stored value only: a source that is not a ``Cache`` is not asked.
  case cachedOnly

  /// The present value of the origin, which replaces the stored ones.
  ///
  /// No stored value and no running fetch answers. A stored value with a validator is not fetched
  /// anew: the origin is asked about it, as by the reload of a browser, and a value that it
  /// confirms is the answer, and counts as new. Remove the value first if the origin is to send it
  /// in any case.
  ///
  /// A get made during a reload may put back an older value into an upper layer, if a slow layer
  /// answers it with a value read before. That value keeps its age, so ``atMost(_:)`` and a
  /// ``FreshnessPolicy`` still see that it is older.
  case reload

  /// Whether any stored value or remembered failure can answer.
  @inlinable package var admitsStored: Bool {
    switch self {
    case .any, .cachedOnly: true
    case .atMost(let limit): limit >= .zero
    case .reload: false
    }
  }

  /// Whether a stored value of this age is acceptable.
  @inlinable
  package func admits(age: @autoclosure () -> Duration) -> Bool {
    switch self {
    case .any, .cachedOnly: true
    case .atMost(let limit): age() <= limit
    case .reload: false
    }
  }
}

/// The use of a stale value that is still usable.
public enum StaleUse: Sendable, Hashable {
  /// A stale value is never used.
  case never

  /// A stale value is used if a fetch fails for a reason that the policy names; by default, if the
  /// origin can't be reached.
  case onNamedErrors

  /// A stale value is used if a fetch fails for any reason.
  case onAnyError

  /// A stale value is used if a fetch takes longer than this, or fails for a reason that the policy
  /// names.
  ///
  /// The new value follows when it arrives; it is fetched even if no caller waits for it. A failure
  /// after the stale value ends the signal if the policy does not name it.
  case after(Duration)

  /// A stale value is used at once, and the new one follows: stale-while-revalidate.
  ///
  /// - Source: RFC 5861 §3.
  public static var atOnce: StaleUse { .after(.zero) }
}
