public import MillpondSignals

/// A cache that always misses; writes succeed and store nothing.
///
/// It is the identity of layering.
@frozen
public struct EmptyCache<Key: Hashable & Sendable, Value: Sendable>: Cache, AnsweringSource {
  /// Creates an empty cache.
  @inlinable
  public init() {}

  /// A store without values.
  public func topology(for key: Key?) -> Topology {
    Topology(.store, "EmptyCache", holds: key.map { _ in false }).findingNoWrites()
  }

  /// Completes empty.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    .empty
  }
}
