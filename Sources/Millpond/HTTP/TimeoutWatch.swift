import MillpondSignals

extension Signal {
  /// Fails with ``TransferError/timedOut(_:)`` when a timeout is over; each event is activity, until its
  /// delivery has returned.
  func timingOut(_ timeouts: Timeouts, on ticker: Ticker) -> Signal {
    Signal { observer, lifetime in
      let watch = TimeoutWatch(observer, lifetime, timeouts, ticker)
      lifetime.onEnd { watch.end() }
      watch.begin()
      if !lifetime.isEnded { run(watch.observer, watch.upstream) }
    }
  }
}

/// A watch over a run with one timer, which is set anew only when it fires: activity costs a look at the
/// clock and no timer.
private final class TimeoutWatch<Value: Sendable>: Sendable {
  let upstream: Lifetime
  private let serializer: Serializer<Value>
  private let ticker: Ticker
  private let state: Locked<State>

  private struct State: Sendable {
    var timeouts: Timeouts
    var timer: Disposable?
    var hasEnded = false
  }

  init(
    _ downstream: Observer<Value>, _ subscriber: Lifetime, _ timeouts: Timeouts, _ ticker: Ticker
  ) {
    upstream = subscriber.child()
    serializer = Serializer(downstream, subscriber)
    self.ticker = ticker
    state = Locked(State(timeouts: timeouts))
  }

  var observer: Observer<Value> {
    Observer(
      next: { self.pass(.next($0)) },
      other: { event in
        if event.isTerminal { self.finish(event) } else { self.pass(event.typed()) }
      })
  }

  func begin() { check() }

  func end() {
    _ = claimEnd()
    upstream.end()
  }

  /// Whether this is the first end: of several causes, only the first is sent.
  private func claimEnd() -> Bool {
    let (isFirst, timer) = state.withLock { state in
      (!exchange(&state.hasEnded, with: true), exchange(&state.timer, with: nil))
    }
    timer?.dispose()
    return isFirst
  }

  private func pass(_ event: Event<Value>) {
    state.withLock { $0.timeouts.beginDelivery() }
    serializer.send(event)
    let now = ticker.now()
    state.withLock { $0.timeouts.endDelivery(at: now) }
  }

  /// Ends the upstream before the end is sent: a caller that asks again on a failure is to find what came.
  private func finish(_ event: Event<Never>) {
    guard claimEnd() else { return }
    upstream.end()
    serializer.send(event.typed())
  }

  private func check() {
    let now = ticker.now()
    switch state.withLock({ $0.timeouts.verdict(at: now) }) {
    case .waits(let delay):
      wait(delay)
    case .isOver(let timeout):
      finish(.failed(TransferError.timedOut(timeout)))
    }
  }

  private func wait(_ delay: Duration) {
    let timer = ticker.schedule(after: delay) { self.check() }
    let isLate = state.withLock { state in
      if !state.hasEnded { state.timer = timer }
      return state.hasEnded
    }
    if isLate { timer.dispose() }
  }
}

/// The time that a transfer may take, and the time that its origin may be silent, in moments of one timeline.
struct Timeouts: Sendable {
  enum Verdict: Equatable {
    case waits(Duration)
    case isOver(TransferError.Timeout)
  }

  private let idleTimeout: Duration
  private let totalTimeout: Duration
  private let start: Duration
  private var latest: Duration

  /// The number of deliveries under way: while the subscriber is busy, the origin is not silent.
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

  /// Returns whether it is over, or the time until there is something to decide.
  func verdict(at now: Duration) -> Verdict {
    let totalLeft = totalTimeout - (now - start)
    let idleLeft = deliveryCount > 0 ? idleTimeout : idleTimeout - (now - latest)
    if totalLeft <= .zero { return .isOver(.total) }
    if idleLeft <= .zero, deliveryCount == 0 { return .isOver(.idle) }
    return .waits(min(totalLeft, idleLeft))
  }
}
