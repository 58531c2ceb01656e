public import MillpondSignals

extension Source {
  /// Starts at most `count` gets in `period`, after a burst; the others wait, the most urgent first,
  /// then in order.
  ///
  /// A bucket holds up to `burst` tokens, is full at first, and gets `count` new ones spread evenly
  /// over each period. A get spends one when it starts; who leaves before that spends none. What is
  /// there at once needs none, nor does an ask for what is cached only. Tellings are not limited.
  ///
  /// Call it next to the origin, under ``Source/retrying(_:clock:)`` and
  /// ``Source/hedged(with:after:clock:)``: over them, only the first attempt of a get spends a token.
  ///
  /// - Parameters:
  ///   - count: How many; less than one is taken as one.
  ///   - period: Of zero or less there is no limit; more than a hundred years are taken as that.
  ///   - burst: How many may start at once after a pause; less than one is taken as one.
  /// - Complexity: O(log *n*) to wait, of *n* that do; one timer for all of them.
  @inlinable
  public func rateLimited(
    to count: Int, per period: Duration, burst: Int = 1,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> RateLimited<Self> {
    let pace = Pace(count: count, period: period, burst: burst, Timeline(clock))
    return RateLimited(base: self, pace: pace)
  }
}

/// A source or cache of which few gets start in any period.
public struct RateLimited<Base: Source>: Detour {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let pace: Pace
  @usableFromInline var title: String { pace.title }

  @inlinable
  init(base: Base, pace: Pace) {
    self.base = base
    self.pace = pace
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    .inTurn(lookup, ask) { pace.take(lookup, $0, $1) }
  }
}

extension RateLimited: Cache where Base: Cache {}

/// A bucket of tokens, and those who wait for one.
@usableFromInline
final class Pace: Sendable {
  /// What the limit is, for those who look.
  @usableFromInline let title: String
  private let timeline: Timeline
  private let state: Locked<PaceState>

  @usableFromInline
  init(count: Int, period: Duration, burst: Int, _ timeline: Timeline) {
    title = "limited to \(max(1, count)) per \(period.brief)"
    self.timeline = timeline
    let bucket = TokenBucket(count: count, period: period, burst: burst)
    state = Locked(PaceState(bucket: bucket))
  }

  /// Calls `work` when there is a token for it, with the lifetime that ends the waiting and the
  /// work; not at all if `lifetime` ends before.
  @usableFromInline
  func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    let asker = WorkContext.current
    let waiter = TurnWaiter(lookup, lifetime.child()) { turn in
      WorkContext.run(in: asker) { work(turn) }
    }
    state.withLock { $0.queue.enter(waiter) }
    waiter.lifetime.onEnd { self.leave(waiter) }
    waiter.onRaise { self.raise(waiter) }
    raise(waiter)
  }

  private func raise(_ waiter: TurnWaiter) {
    state.withLock { $0.queue.raise(waiter) }
    startWaiting()
  }

  /// Starts those for whom there are tokens, in a loop, and sets the timer for the next.
  private func startWaiting() {
    while true {
      let now = timeline.now()
      var gone: [TurnWaiter] = []  // released here, not under the lock
      switch state.withLock({ $0.next(at: now, skipping: &gone) }) {
      case .start(let waiter): waiter.start()
      case .wake(let delay, let number): return setTimer(after: delay, number)
      case .rest: return
      }
    }
  }

  private func setTimer(after delay: Duration, _ number: Int) {
    let timer = timeline.schedule(after: delay) {
      let fired = self.state.withLock { $0.fired(number) }
      _ = fired  // released here, not under the lock
      self.startWaiting()
    }
    let superfluous = state.withLock { $0.keep(timer, number) }
    superfluous?.dispose()
  }

  private func leave(_ waiter: TurnWaiter) {
    var gone: [TurnWaiter] = []
    let timer = state.withLock { state in
      _ = state.queue.leave(waiter, clearing: &gone)
      return state.timerToStop()
    }
    waiter.forget()
    timer?.dispose()
  }
}

/// How many tokens there are, who waits for one, and whether a timer has been set.
private struct PaceState: Sendable {
  enum Step {
    case start(TurnWaiter)
    case wake(after: Duration, number: Int)
    case rest
  }

  var bucket: TokenBucket
  var queue = TurnQueue()

  /// The number of the timer that has been set.
  private var awaited: Int?
  private var timer: Disposable?
  private var lastNumber = 0

  init(bucket: TokenBucket) {
    self.bucket = bucket
  }

  mutating func next(at now: Duration, skipping gone: inout [TurnWaiter]) -> Step {
    if queue.isEmpty { return .rest }
    let wait = bucket.wait(at: now)
    if wait > .zero {
      if awaited != nil { return .rest }
      lastNumber += 1
      awaited = lastNumber
      return .wake(after: wait, number: lastNumber)
    }
    guard let waiter = queue.popFirst(skipping: &gone, if: { _ in true }) else { return .rest }
    bucket.take(at: now)
    return .start(waiter)
  }

  /// Keeps the handle of a timer; gives it back if the timer has fired, or is not wanted any more.
  mutating func keep(_ timer: Disposable, _ number: Int) -> Disposable? {
    guard awaited == number else { return timer }
    self.timer = timer
    return nil
  }

  /// The timer that has fired, to be let go of.
  mutating func fired(_ number: Int) -> Disposable? {
    awaited == number ? takeTimer() : nil
  }

  /// The timer, if nobody waits any more.
  mutating func timerToStop() -> Disposable? {
    queue.isEmpty ? takeTimer() : nil
  }

  private mutating func takeTimer() -> Disposable? {
    defer { timer = nil }
    awaited = nil
    return timer
  }
}

/// When the next token is there, by arithmetic instead of by filling: the bucket knows the time at
/// which it would be full.
///
/// - Source: the generic cell rate algorithm, ITU-T I.371.
struct TokenBucket: Sendable {
  /// How long it takes until one more token is there.
  private let interval: Duration

  /// How long it takes until all but one are.
  private let slack: Duration
  private var fullAt = Duration.zero

  /// Numbers that make no sense are taken as the nearest that do, and nothing overflows.
  init(count: Int, period: Duration, burst: Int) {
    let period = min(max(.zero, period), Self.longestPeriod)
    interval = period / max(1, count)
    slack = interval * (min(max(1, burst), Self.largestBurst) - 1)
  }

  /// How long it takes until a token is there; zero or less if one is.
  func wait(at now: Duration) -> Duration {
    fullAt - now - slack
  }

  /// Takes a token that is there.
  mutating func take(at now: Duration) {
    fullAt = max(fullAt, now) + interval
  }

  private static var longestPeriod: Duration { .seconds(100 * 366 * 86_400) }
  private static var largestBurst: Int { 1_000_000_000 }
}
