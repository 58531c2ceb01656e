/// A value that a flight finds: the one that is kept, or one that was fetched.
@usableFromInline
struct Recalled<Value: Sendable>: Sendable {
  @usableFromInline let value: Value

  /// Whether it is fresh; one that is not is followed by the end, or by one that is new.
  @usableFromInline var isFresh: Bool

  /// The freshness with which the source was asked for it; nil if it was kept.
  @usableFromInline let asked: Freshness?

  @usableFromInline let foundAt: Duration

  /// Its place in the order of findings and gets.
  @usableFromInline let foundAs = Revision.next()

  init(_ value: Value, isFresh: Bool, asked: Freshness?, at foundAt: Duration) {
    self.value = value
    self.isFresh = isFresh
    self.asked = asked
    self.foundAt = foundAt
  }

  @inlinable
  func with(_ isFresh: Bool) -> Recalled {
    var copy = self
    copy.isFresh = isFresh
    return copy
  }
}

extension Stamped {
  /// How old the value of a finding is at `now`.
  @usableFromInline
  func deliveredAge<Content>(at now: Duration) -> Duration where Value == Recalled<Content> {
    // A clock that was set back makes nothing younger than it was found.
    age + max(.zero, now - value.foundAt)
  }
}
