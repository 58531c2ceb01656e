public import MillpondSignals

extension Source {
  /// Starts at most `count` gets in each `period`, after a burst; the others wait, by priority and
  /// then in order.
  ///
  /// A bucket holds up to `burst` tokens, starts full, and receives `count` tokens spread evenly
  /// over each period. A get spends a token when it starts; a get whose caller leaves before that
  /// spends none. Immediate answers need no token, nor do gets with ``Freshness/cachedOnly``.
  /// Writes are not limited.
  ///
  /// Apply this next to the origin, under ``Source/retrying(_:clock:)`` and
  /// ``Source/hedged(with:after:clock:)``: the origin counts every attempt, but over them only the
  /// first one of a get spends a token. Apply it under ``Source/limited(to:reserved:maxWaiting:)``
  /// too: a token spent over it is old by the time a slot is free, and several such gets start
  /// faster than the rate.
  ///
  /// - Parameters:
  ///   - count: The number of tokens in each period; at least one.
  ///   - period: The period; zero or less means no limit, and a hundred years is the longest.
  ///   - burst: The number of gets that may start at once after a pause; at least one.
  ///   - maxWaiting: The greatest number of gets that wait; without it, any number. A get beyond it
  ///     fails at once with ``CacheError/tooManyWaiting(key:layer:limit:)``, whatever its priority:
  ///     no waiting get is given up for it. With zero or less no get waits.
  ///   - clock: The clock that measures the period.
  /// - Complexity: O(log *n*) to wait, in the number of waiting gets, with one timer for all of
  ///   them.
  public func rateLimited(
    to count: Int, per period: Duration, burst: Int = 1, maxWaiting: Int = .max,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    let limiter = RateLimiter(
      count: count, period: period, burst: burst, maxWaiting: maxWaiting, Scheduler(clock))
    return Governed(self, by: .turns(limiter))
  }
}

/// A bucket of tokens, and the gets that wait for one.
@usableFromInline
final class RateLimiter: TurnLimiter {
  /// A description of the limit.
  @usableFromInline let title: String
  @usableFromInline let maxWaiting: Int
  private let scheduler: Scheduler
  private let state: Locked<RateLimiterState>

  @usableFromInline
  init(
    count: Int, period: Duration, burst: Int, maxWaiting: Int, _ scheduler: Scheduler
  ) {
    title = "limited to \(max(1, count)) per \(period.brief)"
    self.scheduler = scheduler
    self.maxWaiting = max(0, maxWaiting)
    let bucket = TokenBucket(count: count, period: period, burst: burst)
    state = Locked(
      RateLimiterState(bucket: bucket, queue: WaiterQueue(limit: self.maxWaiting)))
  }

  /// Calls `work` when there is a token for it, with a lifetime that ends with the work; never if
  /// `lifetime` ends first.
  ///
  /// - Returns: False if too many gets wait already; then `work` is never called.
  @usableFromInline
  func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) -> Bool {
    let waiter = TokenWaiter(lookup, lifetime, work)
    let now = maxWaiting < .max ? scheduler.now() : .zero
    let admission = state.withLock { $0.enter(waiter, at: now) }
    if case .refused = admission { return false }
    lifetime.onEnd { self.leave(waiter) }
    waiter.onRaise { self.raise(waiter) }
    if case .starts(let first) = admission { start(first) }
    raise(waiter)
    return true
  }

  private func raise(_ waiter: TokenWaiter) {
    state.withLock { $0.queue.raise(waiter) }
    startWaiting()
  }

  /// Starts the gets for which there are tokens, in a loop, and sets the timer for the next token.
  private func startWaiting() {
    while true {
      let now = scheduler.now()
      switch state.withLock({ $0.next(at: now) }) {
      case .start(let waiter): start(waiter)
      case .again: continue
      case .wake(let delay, let number): return setTimer(after: delay, number)
      case .rest: return
      }
    }
  }

  private func setTimer(after delay: Duration, _ number: Int) {
    let timer = scheduler.schedule(after: delay) {
      self.state.discard { $0.fired(number) }
      self.startWaiting()
    }
    let superfluous = state.withLock { $0.keep(timer, number) }
    superfluous?.dispose()
  }

  /// Runs the work of a get once and releases it, in the context of the caller.
  private func start(_ waiter: TokenWaiter) {
    let work = waiter.takeWork()
    // The caller has left, so nothing needs the work.
    if waiter.lifetime.isEnded { return }
    WorkContext.run(in: waiter.caller) { work?(waiter.lifetime.child()) }
  }

  /// Lets a get leave the queue, and releases its work, since the caller has left or has its answer.
  private func leave(_ waiter: TokenWaiter) {
    let timer = state.withLock { state in
      _ = state.queue.leave(waiter)
      return state.timerToStop()
    }
    timer?.dispose()
    withExtendedLifetime(waiter.takeWork()) {}  // released here, not under the lock
  }
}

/// A get that waits for a token; nothing more is recorded of its turn.
private typealias TokenWaiter = QueuedWaiter<Never>

/// The tokens, the queue for them, and the timer.
private struct RateLimiterState: Sendable {
  enum Step {
    case start(TokenWaiter)
    case wake(after: Duration, number: Int)
    case again
    case rest
  }

  var bucket: TokenBucket
  var queue: WaiterQueue<Never>

  /// The number of the timer that is set.
  private var awaited: Int?
  private var timer: Disposable?
  private var lastNumber = 0

  init(bucket: TokenBucket, queue: WaiterQueue<Never>) {
    self.bucket = bucket
    self.queue = queue
  }

  /// Enqueues the waiter; refuses it if the queue is too long and there is no token.
  mutating func enter(_ waiter: TokenWaiter, at now: Duration) -> WaiterQueue<Never>.Admission {
    queue.enter(waiter)
    guard queue.isTooLong else { return .waits }
    guard bucket.wait(at: now) <= .zero else { return queue.admission(of: waiter, by: .none) }
    var turn = popFirst(at: now)
    while case .unknown = turn { turn = popFirst(at: now) }
    return queue.admission(of: waiter, by: turn)
  }

  /// Spends a token on the first waiter.
  private mutating func popFirst(at now: Duration) -> WaiterQueue<Never>.Step {
    let turn = queue.popFirst { _ in true }
    if case .next = turn { bucket.take(at: now) }
    return turn
  }

  mutating func next(at now: Duration) -> Step {
    if queue.isEmpty { return .rest }
    let wait = bucket.wait(at: now)
    if wait > .zero {
      if awaited != nil { return .rest }
      lastNumber += 1
      awaited = lastNumber
      return .wake(after: wait, number: lastNumber)
    }
    switch popFirst(at: now) {
    case .next(let waiter): return .start(waiter)
    case .unknown: return .again
    case .none: return .rest
    }
  }

  /// Keeps a timer; returns it if it has fired or is no longer needed.
  mutating func keep(_ timer: Disposable, _ number: Int) -> Disposable? {
    guard awaited == number else { return timer }
    self.timer = timer
    return nil
  }

  /// Returns the timer that has fired, to be released after the unlock.
  mutating func fired(_ number: Int) -> Disposable? {
    awaited == number ? takeTimer() : nil
  }

  /// Returns the timer if no get waits any more.
  mutating func timerToStop() -> Disposable? {
    queue.isEmpty ? takeTimer() : nil
  }

  private mutating func takeTimer() -> Disposable? {
    defer { timer = nil }
    awaited = nil
    return timer
  }
}

/// A token bucket that computes the time of the next token instead of being filled: it stores the
/// time at which it would be full.
///
/// - Source: the generic cell rate algorithm, ITU-T I.371.
struct TokenBucket: Sendable {
  /// The time in which one token is added.
  private let interval: Duration

  /// The time in which all tokens but one are added.
  private let slack: Duration
  private var fullAt = Duration.zero

  /// Creates a full bucket; each argument is clamped to its range, so that no computation
  /// overflows.
  init(count: Int, period: Duration, burst: Int) {
    interval = period.withinCentury / max(1, count)
    slack = interval * (min(max(1, burst), Self.largestBurst) - 1)
  }

  /// Returns the time until there is a token; zero or less if there is one.
  func wait(at now: Duration) -> Duration {
    fullAt - now - slack
  }

  /// Takes a token that is there.
  mutating func take(at now: Duration) {
    fullAt = max(fullAt, now) + interval
  }

  private static var largestBurst: Int { 1_000_000_000 }
}
