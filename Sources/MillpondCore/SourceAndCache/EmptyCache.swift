public import MillpondSignals

/// A cache that always misses; writes succeed and store nothing.
///
/// It is the identity of layering.
public struct EmptyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  /// Creates an empty cache.
  @inlinable
  public init() {}

  /// A store without values.
  public func topology(for key: Key?) -> Topology {
    Topology(.store, "EmptyCache", holds: key.map { _ in false }).findingNoWrites()
  }

  /// Completes empty.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    .empty
  }

  /// Completes empty.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .empty
  }
}
