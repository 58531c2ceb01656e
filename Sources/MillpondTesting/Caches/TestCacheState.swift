import MillpondCore
import MillpondSignals

/// What a test cache keeps, the order of its writes, and what it was ordered to fail.
struct TestCacheState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  var contents: [Key: (stamped: Stamped<Value>, revision: Revision)] = [:]
  var order = WriteOrder<Key>()
  var getFailures: [Key: any Error] = [:]
  var changeFailures: [Key: any Error] = [:]
  var gets: [Key] = []

  mutating func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      if let failure = changeFailures[key] { return .fail(failure) }
      if order.admit(key, revision) { contents[key] = (Stamped(value), revision) }
    case .fill(let key, let stamped, let token):
      if let failure = changeFailures[key] { return .fail(failure) }
      guard order.admit(token, for: key) else { return .empty }
      contents[key] = (stamped, contents[key]?.revision ?? .none)
    case .remove(let key, let revision):
      if order.admit(key, revision) { contents[key] = nil }
    case .removeAll(let revision):
      if order.admitAll(revision) { contents = contents.filter { $0.value.revision > revision } }
    }
    return .just(())
  }
}
