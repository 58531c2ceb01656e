/// How long a transfer may go on, and how long its origin may be silent, in moments of one timeline.
struct Patience: Sendable {
  enum Verdict: Equatable {
    case waits(Duration)
    case isOver(TransferError.Timeout)
  }

  private let idleTimeout: Duration
  private let totalTimeout: Duration
  private let start: Duration
  private var latest: Duration

  /// How many deliveries are under way: while the subscriber is busy, the origin is not silent.
  private var deliveryCount = 0

  init(_ limits: HTTPLimits, since start: Duration) {
    idleTimeout = limits.idleTimeout
    totalTimeout = limits.totalTimeout
    self.start = start
    latest = start
  }

  mutating func beginDelivery() {
    deliveryCount += 1
  }

  mutating func endDelivery(at now: Duration) {
    deliveryCount -= 1
    latest = now
  }

  /// Whether it is over, or until when there is nothing to decide.
  func verdict(at now: Duration) -> Verdict {
    let totalLeft = totalTimeout - (now - start)
    let idleLeft = deliveryCount > 0 ? idleTimeout : idleTimeout - (now - latest)
    if totalLeft <= .zero { return .isOver(.total) }
    if idleLeft <= .zero, deliveryCount == 0 { return .isOver(.idle) }
    return .waits(min(totalLeft, idleLeft))
  }
}
