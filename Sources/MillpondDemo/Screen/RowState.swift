/// The state of a fetch.
enum RowState: Equatable, Sendable {
  /// The fetch has not started.
  case waiting
  /// The fetch is running, with the bytes received and, if the origin stated it, the total.
  case loading(completed: Int, total: Int?)
  /// A layer has answered.
  case done(layer: String, bytes: Int, time: Duration)
  /// The last subscriber left, for this reason.
  case cancelled(reason: String)
  case failed(reason: String)
}

extension RowState {
  /// Returns whether the state is worth a new line if lines cannot be redrawn; progress is not.
  func isWorthShowing(after earlier: RowState) -> Bool {
    switch (earlier, self) {
    case (.loading, .loading): false
    default: self != earlier
    }
  }

  /// Whether the state is final.
  var isSettled: Bool {
    switch self {
    case .waiting, .loading: false
    case .done, .cancelled, .failed: true
    }
  }

  /// The rank of a row for a place on a small screen; lower ranks come first.
  var rank: Int {
    switch self {
    case .loading: 0
    case .failed: 1
    case .cancelled: 2
    case .waiting: 3
    case .done: 4
    }
  }

  /// The ink for the state.
  var ink: TextStyle.Ink {
    switch self {
    case .waiting: .quiet
    case .loading: .underWay
    case .done("memory", _, _): .fromMemory
    case .done("disk", _, _): .fromDisk
    case .done: .fromAfar
    case .cancelled: .givenUp
    case .failed: .trouble
    }
  }
}
