/// An event of a key, for its watchers.
enum KeyEvent: Sendable {
  /// A fetch began.
  case begun

  /// A fetch ended, with or without a value.
  case ended

  /// A fetched value was admitted by the store.
  case fetched

  /// A value was found in the store, or filled in from outside.
  case kept

  /// A value was set.
  case set

  /// The value was removed.
  case removed

  /// A layer stored a change, or failed to, after the call returned.
  case settled

  /// Whether the stored value may have changed.
  var isChange: Bool {
    switch self {
    case .begun, .ended: false
    case .fetched, .kept, .set, .removed, .settled: true
    }
  }

  /// Creates the event of a change.
  init(of change: Change<some Sendable, some Sendable>) {
    self =
      switch change {
      case .set: .set
      case .remove, .removeAll, .removeMatching: .removed
      case .fill: .kept
      }
  }
}
