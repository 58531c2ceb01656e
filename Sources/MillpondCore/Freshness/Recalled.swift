import MillpondSignals

/// What a flight finds: the value that is kept, or the one that was fetched.
struct Recalled<Value: Sendable>: Sendable {
  let value: Value

  /// Whether it was young enough when it was found; one that is not is followed by the end, or by one
  /// that is new.
  let isFresh: Bool

  let foundAt: Duration

  init(_ value: Value, isFresh: Bool, at foundAt: Duration) {
    self.value = value
    self.isFresh = isFresh
    self.foundAt = foundAt
  }
}

extension Stamped {
  /// What was found, as it is now: who joins a flight late gets what has grown older meanwhile.
  func delivered<Content>(_ timeline: Timeline) -> Stamped<Content>
  where Value == Recalled<Content> {
    let passed = timeline.now() - value.foundAt
    return Stamped<Content>(value.value, age: age + passed, validator: validator)
  }
}
