/// What has happened to a key, for those who watch it.
enum RememberedNews<Value: Sendable>: Sendable {
  /// A fetch has begun.
  case begun

  /// A fetch has ended, whichever way.
  case ended

  /// A value was fetched, and the store admitted it.
  case fetched(Stamped<Value>, asked: Revision)

  /// A value was found in the store, or filled in from outside.
  case kept(Stamped<Value>, asked: Revision)

  /// A value was set.
  case set(Value, Revision)

  /// The value was removed.
  case removed(Revision)

  /// The news of a change; nil for one of all keys, which is told by whoever knows those that are watched.
  static func of<Key>(_ change: Change<Key, Value>) -> (key: Key, news: RememberedNews)? {
    switch change {
    case .set(let key, let value, let revision): (key, .set(value, revision))
    case .remove(let key, let revision): (key, .removed(revision))
    case .fill(let key, let stamped, let token): (key, .kept(stamped, asked: token.revision))
    case .removeAll: nil
    }
  }
}
