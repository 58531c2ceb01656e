/// How far a fetch is.
enum RowState: Equatable, Sendable {
  /// Nobody has asked yet.
  case waiting
  /// Under way, with so many bytes of so many, if the origin said how many.
  case loading(completed: Int, total: Int?)
  /// Answered by that layer.
  case done(layer: String, bytes: Int, time: Duration)
  /// Given up by its last asker, for the reason said.
  case cancelled(reason: String)
  case failed(reason: String)
}

extension RowState {
  /// Whether it makes a new line where lines can't be drawn again: ticks of progress do not.
  func isNews(after earlier: RowState) -> Bool {
    switch (earlier, self) {
    case (.loading, .loading): false
    default: self != earlier
    }
  }

  /// Whether nothing more is to come.
  var isSettled: Bool {
    switch self {
    case .waiting, .loading: false
    case .done, .cancelled, .failed: true
    }
  }

  /// The less, the more worth a place on a screen that has too few lines.
  var rank: Int {
    switch self {
    case .loading: 0
    case .failed: 1
    case .cancelled: 2
    case .waiting: 3
    case .done: 4
    }
  }

  /// What it means for who watches.
  var ink: Look.Ink {
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
