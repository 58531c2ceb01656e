import MillpondCore

/// What a test cache keeps, what it was told, and what it was ordered to fail.
struct TestCacheState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  var contents: [Key: (stamped: Stamped<Value>, revision: Revision)] = [:]
  var lastTold: [Key: Revision] = [:]
  var floor = Revision.none
  var getFailures: [Key: any Error] = [:]
  var changeFailures: [Key: any Error] = [:]
  var gets: [Key] = []

  func last(_ key: Key) -> Revision {
    max(floor, lastTold[key] ?? .none)
  }

  mutating func set(
    _ key: Key, _ stamped: Stamped<Value>, _ revision: Revision
  ) -> (any Error)? {
    if let failure = changeFailures[key] { return failure }
    guard revision >= last(key) else { return nil }
    lastTold[key] = revision
    contents[key] = (stamped, revision)
    return nil
  }

  mutating func fill(_ key: Key, _ stamped: Stamped<Value>, _ mark: Mark) -> (any Error)? {
    if let failure = changeFailures[key] { return failure }
    if mark.admits(last(key)) { contents[key] = (stamped, .none) }
    return nil
  }

  mutating func remove(_ key: Key, _ revision: Revision) -> (any Error)? {
    guard revision >= last(key) else { return nil }
    lastTold[key] = revision
    contents[key] = nil
    return nil
  }

  mutating func removeAll(_ revision: Revision) -> (any Error)? {
    guard revision >= floor else { return nil }
    floor = revision
    contents = contents.filter { $0.value.revision > revision }
    return nil
  }
}
