/// Something that has happened to a key, for those who watch it.
enum RememberedNews: Sendable {
  /// A fetch has begun.
  case begun

  /// A fetch has ended, whichever way.
  case ended

  /// A value was fetched, and the store admitted it.
  case fetched

  /// A value was found in the store, or filled in from outside.
  case kept

  /// A value was set.
  case set

  /// The value was removed.
  case removed

  /// A layer has taken a change in, or has failed to, after the call had returned.
  case settled

  /// Whether the value that is kept may be another one now.
  var isChange: Bool {
    switch self {
    case .begun, .ended: false
    case .fetched, .kept, .set, .removed, .settled: true
    }
  }

  /// The news of a change.
  init(of change: Change<some Sendable, some Sendable>) {
    self =
      switch change {
      case .set: .set
      case .remove, .removeAll: .removed
      case .fill: .kept
      }
  }
}
