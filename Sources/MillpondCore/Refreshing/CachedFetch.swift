/// A value that a flight finds: a stored one or a fetched one.
@usableFromInline
struct CachedFetch<Value: Sendable>: Sendable {
  @usableFromInline let value: Value

  /// Whether the value is fresh; a stale one is followed by the end or by a new value.
  @usableFromInline var isFresh: Bool

  /// The freshness of the get that fetched the value; nil for a stored value.
  @usableFromInline let requested: Freshness?

  /// The position of the fetch in the order of writes and marks; the last one for a stored value.
  @usableFromInline let asked: Revision

  @usableFromInline let foundAt: Duration

  /// The position in the order of findings and gets.
  @usableFromInline let foundAs = Revision.next()

  init(
    _ value: Value, isFresh: Bool, requested: Freshness?, asked: Revision, at foundAt: Duration
  ) {
    self.value = value
    self.isFresh = isFresh
    self.requested = requested
    self.asked = asked
    self.foundAt = foundAt
  }

  @inlinable
  func with(_ isFresh: Bool) -> CachedFetch {
    var copy = self
    copy.isFresh = isFresh
    return copy
  }
}

extension Stamped {
  /// Returns the age of a finding's value at `now`.
  @usableFromInline
  func deliveredAge<Content>(at now: Duration) -> Duration where Value == CachedFetch<Content> {
    // A step back of the clock makes no value younger than it was when found.
    age + max(.zero, now - value.foundAt)
  }
}
