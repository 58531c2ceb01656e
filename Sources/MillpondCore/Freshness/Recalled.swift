/// What a flight finds: the value that is kept, or the one that was fetched.
@usableFromInline
struct Recalled<Value: Sendable>: Sendable {
  @usableFromInline let value: Value

  /// Whether it was young enough when it was found; one that is not is followed by the end, or by one
  /// that is new.
  @usableFromInline let isFresh: Bool

  @usableFromInline let foundAt: Duration

  @usableFromInline
  init(_ value: Value, isFresh: Bool, at foundAt: Duration) {
    self.value = value
    self.isFresh = isFresh
    self.foundAt = foundAt
  }
}
