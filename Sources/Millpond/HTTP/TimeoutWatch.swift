import MillpondSignals

extension Signal {
  /// Fails with ``TransferError/timedOut(_:)`` when `patience` is over; each event is activity, until its
  /// delivery has returned.
  func timingOut(_ patience: Timeouts, on ticker: Ticker) -> Signal {
    Signal { observer, lifetime in
      let vigil = TimeoutWatch(observer, lifetime, patience, ticker)
      lifetime.onEnd { vigil.end() }
      vigil.begin()
      if !lifetime.isEnded { run(vigil.observer, vigil.upstream) }
    }
  }
}

/// Watches over a run with one timer, that is set anew only when it fires: activity costs a look
/// at the clock and no timer.
private final class TimeoutWatch<Value: Sendable>: Sendable {
  let upstream: Lifetime
  private let serializer: Serializer<Value>
  private let ticker: Ticker
  private let watch: Locked<Watch>

  private struct Watch: Sendable {
    var patience: Timeouts
    var timer: Disposable?
    var hasEnded = false
  }

  init(
    _ downstream: Observer<Value>, _ subscriber: Lifetime, _ patience: Timeouts, _ ticker: Ticker
  ) {
    upstream = subscriber.child()
    serializer = Serializer(downstream, subscriber)
    self.ticker = ticker
    watch = Locked(Watch(patience: patience))
  }

  var observer: Observer<Value> {
    Observer(
      next: { self.pass(.next($0)) },
      other: { event in
        if event.isTerminal { self.finish(event) } else { self.pass(event.typed()) }
      })
  }

  func begin() {
    check()
  }

  func end() {
    _ = claimEnd()
    upstream.end()
  }

  /// Whether this is the first end: of several causes, only the first is told.
  private func claimEnd() -> Bool {
    let (isFirst, timer) = watch.withLock { watch in
      defer { (watch.hasEnded, watch.timer) = (true, nil) }
      return (!watch.hasEnded, watch.timer)
    }
    timer?.dispose()
    return isFirst
  }

  private func pass(_ event: Event<Value>) {
    watch.withLock { $0.patience.beginDelivery() }
    serializer.send(event)
    let now = ticker.now()
    watch.withLock { $0.patience.endDelivery(at: now) }
  }

  /// Ends the upstream before the end is told: who asks again on a failure is to find what came.
  private func finish(_ event: Event<Never>) {
    guard claimEnd() else { return }
    upstream.end()
    serializer.send(event.typed())
  }

  private func check() {
    let now = ticker.now()
    switch watch.withLock({ $0.patience.verdict(at: now) }) {
    case .waits(let delay):
      wait(delay)
    case .isOver(let timeout):
      finish(.failed(TransferError.timedOut(timeout)))
    }
  }

  private func wait(_ delay: Duration) {
    let timer = ticker.schedule(after: delay) { self.check() }
    let isLate = watch.withLock { watch in
      if !watch.hasEnded { watch.timer = timer }
      return watch.hasEnded
    }
    if isLate { timer.dispose() }
  }
}

/// How long a transfer may go on, and how long its origin may be silent, in moments of one timeline.
struct Timeouts: Sendable {
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
