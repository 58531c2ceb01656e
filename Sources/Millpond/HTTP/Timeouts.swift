import MillpondSignals

extension Signal {
  /// Fails with ``TransferError/timedOut(_:url:)`` when a timeout is over.
  ///
  /// Each event counts as activity until its delivery has returned. The timer is set again only
  /// when it fires, so activity costs a clock reading and no timer.
  func timingOut(_ timeouts: Timeouts, on timers: SharedTimers) -> Signal {
    .deferred {
      let timeouts = Locked(timeouts)
      return active(timeouts, timers).ended { run, end in
        @Sendable func check() {
          let now = timers.now()
          switch timeouts.withLock({ $0.verdict(at: now) }) {
          case .waits(let delay):
            let pause = run.child()
            let timer = timers.schedule(after: delay) {
              pause.end()
              check()
            }
            pause.onEnd { timer.dispose() }
          case .isOver(let timeout): end(.failed(TransferError.timedOut(timeout)))
          }
        }
        check()
      }
    }
  }

  /// Records the deliveries of events.
  private func active(_ timeouts: Locked<Timeouts>, _ timers: SharedTimers) -> Signal {
    let note = { @Sendable (deliver: () -> Void) in
      timeouts.withLock { $0.beginDelivery() }
      deliver()
      let now = timers.now()
      timeouts.withLock { $0.endDelivery(at: now) }
    }
    return Signal { observer, lifetime in
      run(
        Observer(
          next: { value in note { observer.next(value) } },
          other: { event in note { observer.other(event) } }), lifetime)
    }
  }
}

/// The time limits of a transfer and of its origin's silence, in moments of one scheduler.
struct Timeouts: Sendable {
  enum Verdict: Equatable {
    case waits(Duration)
    case isOver(TransferError.Timeout)
  }

  private let idleTimeout: Duration
  private let totalTimeout: Duration
  private let start: Duration
  private var latest: Duration

  /// The number of deliveries under way; while the subscriber is busy, the origin does not count as
  /// silent.
  private var deliveryCount = 0

  init(_ limits: HTTPLimits, since start: Duration) {
    idleTimeout = limits.idleTimeout
    totalTimeout = limits.totalTimeout
    self.start = start
    latest = start
  }

  mutating func beginDelivery() { deliveryCount += 1 }

  mutating func endDelivery(at now: Duration) {
    deliveryCount -= 1
    latest = now
  }

  /// Returns the timeout that is over, or the time until the next check.
  func verdict(at now: Duration) -> Verdict {
    let totalLeft = totalTimeout - (now - start)
    let idleLeft = deliveryCount > 0 ? idleTimeout : idleTimeout - (now - latest)
    if totalLeft <= .zero { return .isOver(.total) }
    if idleLeft <= .zero, deliveryCount == 0 { return .isOver(.idle) }
    return .waits(min(totalLeft, idleLeft))
  }
}
