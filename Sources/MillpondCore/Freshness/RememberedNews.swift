/// What has happened to a key, for those who watch it.
enum RememberedNews<Value: Sendable>: Sendable {
  /// A fetch has begun.
  case begun

  /// A fetch has ended, whichever way.
  case ended

  /// A value was fetched, and kept unless something newer had been told.
  case fetched(Stamped<Value>)

  /// A value was found in the store, or filled in from outside.
  case kept(Stamped<Value>)

  /// A value was told.
  case set(Value)

  /// The value was taken away.
  case removed

  /// All values were taken away.
  static func tell<Key>(
    _ change: Change<Key, Value>, _ tell: (Key, RememberedNews) -> Void
  ) {
    switch change {
    case .set(let key, let value, _): tell(key, .set(value))
    case .remove(let key, _): tell(key, .removed)
    case .fill(let key, let stamped, _): tell(key, .kept(stamped))
    case .removeAll: break  // told by whoever knows which keys are watched
    }
  }
}
