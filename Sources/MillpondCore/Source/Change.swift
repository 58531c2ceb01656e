/// What can be written to a cache, and what it can be filled with.
///
/// The first three are writes: they carry a revision, and a store ignores a write if a later one of
/// the same key has arrived. A fill is what a lower layer answered: it never wins over a write.
public enum Change<Key: Sendable, Value: Sendable>: Sendable {
  /// Keep this value for the key, instead of any other.
  case set(Key, Value, Revision)

  /// Keep nothing for the key.
  case remove(Key, Revision)

  /// Keep nothing.
  case removeAll(Revision)

  /// Keep this value, unless the key was written to since the token was drawn.
  case fill(Key, Stamped<Value>, FillToken)

  /// Whether a lower layer's answer is to be kept.
  @inlinable
  public var isFill: Bool {
    if case .fill = self { true } else { false }
  }

  /// The place of a write in the order of all; nil for a fill.
  @inlinable
  public var revision: Revision? {
    switch self {
    case .set(_, _, let revision), .remove(_, let revision), .removeAll(let revision): revision
    case .fill: nil
    }
  }

  /// The change for a layer that needs time before it reaches a store: see ``FillToken/accepted``.
  @inlinable
  public var accepted: Change {
    if case .fill(let key, let stamped, let token) = self {
      .fill(key, stamped, token.accepted)
    } else {
      self
    }
  }
}
