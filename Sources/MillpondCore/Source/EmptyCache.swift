public import MillpondSignals

/// Always misses; storing succeeds and keeps nothing.
///
/// The identity of layering.
public struct EmptyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  /// A cache of nothing.
  public init() {}

  /// One store, of nothing.
  public func layout(for key: Key?) -> Layout {
    Layout(.store, "EmptyCache", holds: key.map { _ in false })
  }

  /// Completes empty.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    .empty
  }
}
