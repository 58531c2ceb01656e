/// What a cache can be told, and what it can be filled with.
///
/// The first three are tellings: they carry a revision, and a store that keeps revisions ignores
/// what is older than what it was told last for that key. A fill is what a lower layer answered:
/// it never wins over a telling.
public enum Change<Key: Sendable, Value: Sendable>: Sendable {
  /// Keep this value for the key, instead of any other.
  case set(Key, Value, Revision)

  /// Keep nothing for the key.
  case remove(Key, Revision)

  /// Keep nothing.
  case removeAll(Revision)

  /// Keep this value, unless something was told for the key since the mark was read.
  case fill(Key, Stamped<Value>, Mark)
}
