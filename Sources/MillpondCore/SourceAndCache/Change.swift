/// A write to a cache, or a fill.
///
/// Writes carry a revision, and a store ignores a write if a later one of the same key has arrived.
/// A fill is the answer of a lower layer, and never wins over a write.
public enum Change<Key: Sendable, Value: Sendable>: Sendable {
  /// Store this value for the key, in place of any other.
  ///
  /// Its own time to live, if it has one, replaces that of the cache.
  case set(Key, Stamped<Value>, Revision)

  /// Remove the value of the key.
  case remove(Key, Revision)

  /// Remove all values.
  case removeAll(Revision)

  /// Remove the values of all keys that satisfy the predicate.
  ///
  /// A cache that can't find its keys fails with ``CacheError/unsupported(layer:write:)``.
  case removeMatching(KeyPredicate<Key>, Revision)

  /// Store this value, unless the key was written after the token was taken.
  ///
  /// Its own time to live, if it has one, shortens that of the cache.
  case fill(Key, Stamped<Value>, FillToken)

  /// Returns the change that stores a new value, without a time to live of its own.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value, of age zero.
  ///   - revision: The place of the write in the order of all writes.
  @inlinable
  public static func set(_ key: Key, _ value: Value, _ revision: Revision) -> Change {
    .set(key, Stamped(value, nanoseconds: 0, rest: .max, validator: nil), revision)
  }

  /// Whether this is a fill: the answer of a lower layer.
  @inlinable
  public var isFill: Bool {
    if case .fill = self { true } else { false }
  }

  /// The position of a write in the order of all writes; nil for a fill.
  @inlinable
  public var revision: Revision? {
    switch self {
    case .set(_, _, let revision), .remove(_, let revision), .removeAll(let revision),
      .removeMatching(_, let revision):
      revision
    case .fill: nil
    }
  }

  /// The change for a layer that takes time to reach a store; see ``FillToken/accepted``.
  @inlinable
  public var accepted: Change {
    if case .fill(let key, let stamped, let token) = self {
      .fill(key, stamped, token.accepted)
    } else {
      self
    }
  }
}
