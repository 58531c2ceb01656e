/// A value that a memory cache does not keep any more.
public struct Removal<Key: Sendable, Value: Sendable>: Sendable {
  /// Why.
  public enum Cause: Sendable, Hashable, CaseIterable {
    /// For room: others were worth more, or a limit was lowered.
    case evicted

    /// For its age.
    case expired

    /// By order.
    case removed

    /// For a new value of the same key.
    case replaced

    /// Because memory was short.
    case pressure
  }

  /// Of which key.
  public let key: Key

  /// The value.
  public let value: Value

  /// Why it went.
  public let cause: Cause

  @usableFromInline
  init(key: Key, value: Value, cause: Cause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}

/// What was dropped under a lock, to be told of and released after it: mostly one value, or none.
@usableFromInline
struct Removals<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline var first: Removal<Key, Value>?
  @usableFromInline var others: ContiguousArray<Removal<Key, Value>> = []

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ removal: Removal<Key, Value>) {
    if first == nil { first = removal } else { others.append(removal) }
  }
}
