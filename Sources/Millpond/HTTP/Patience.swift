/// How long a transfer may go on, and how long it may be silent, in moments of one timeline.
struct Patience: Sendable {
  enum Verdict: Equatable {
    case waits(Duration)
    case isOver(TransferError.Timeout)
  }

  private let idleTimeout: Duration
  private let totalTimeout: Duration
  private let start: Duration
  private var latest: Duration

  init(_ limits: HTTPLimits, since start: Duration) {
    idleTimeout = limits.idleTimeout
    totalTimeout = limits.totalTimeout
    self.start = start
    latest = start
  }

  mutating func received(at now: Duration) {
    latest = now
  }

  /// Whether it is over, or until when there is nothing to decide.
  func verdict(at now: Duration) -> Verdict {
    let totalLeft = totalTimeout - (now - start)
    let idleLeft = idleTimeout - (now - latest)
    if totalLeft <= .zero { return .isOver(.total) }
    if idleLeft <= .zero { return .isOver(.idle) }
    return .waits(min(totalLeft, idleLeft))
  }
}
