public import Synchronization

extension Signal {
  /// Runs the signal again when it fails, as `policy` decides; the last failure passes.
  ///
  /// Values of failed attempts have been passed on already. Progress is that of the running
  /// attempt, so it may restart. An error that is ``RetryDelaying`` can lengthen the pause.
  ///
  /// - Parameters:
  ///   - policy: Decides about each failure.
  ///   - clock: The clock that measures the pauses.
  /// - Complexity: Constant stack, even if many attempts fail at once.
  @inlinable
  public func retry(
    _ policy: RetryPolicy, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    guard start != nil else { return self }
    let scheduler = Scheduler(clock)
    return derived(now: now) { observer, lifetime in
      Retrying(self, observer, lifetime, policy, scheduler).run()
    }
  }
}

/// A runner of one attempt after the other.
@usableFromInline
@_fixed_layout
final class Retrying<Value: Sendable>: Sendable {
  @usableFromInline let signal: Signal<Value>
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let policy: RetryPolicy
  @usableFromInline let scheduler: Scheduler

  /// The number of the present attempt, from 1; changed only by the thread that starts an attempt.
  @usableFromInline let number = AtomicValue(0)

  @inlinable
  init(
    _ signal: Signal<Value>, _ downstream: Observer<Value>, _ lifetime: Lifetime,
    _ policy: RetryPolicy, _ scheduler: Scheduler
  ) {
    self.signal = signal
    self.downstream = downstream
    self.lifetime = lifetime
    self.policy = policy
    self.scheduler = scheduler
  }

  /// Runs an attempt, and then, in a loop, further attempts for as long as they fail at once.
  @inlinable
  func run() {
    while runOne() {}
  }

  /// Runs an attempt; returns true if it has failed already, and the next is due at once.
  @inlinable
  func runOne() -> Bool {
    if lifetime.isEnded { return false }
    number.add(1, ordering: .relaxed)
    let attempt = InnerSubscription(of: self, in: lifetime)
    signal.run(attempt.observer(), attempt.lifetime)
    return attempt.isSecond()
  }

  @inlinable
  func failed(_ attempt: InnerSubscription<Retrying>, _ error: any Error) {
    attempt.lifetime.end()
    if lifetime.isEnded { return }
    // The number is read before the meeting, after which the starter may begin the next attempt.
    guard let delay = policy.delay(after: number.load(ordering: .relaxed), failedWith: error) else {
      return downstream.failed(error)
    }
    if delay > .zero {
      scheduler.schedule(after: delay, during: lifetime.child()) { self.run() }
    } else if attempt.isSecond() {
      run()
    }
  }
}

extension InnerSubscription {
  @inlinable
  func observer<Value>() -> Observer<Value> where Whole == Retrying<Value> {
    Observer(next: whole.downstream.onNext) { event in
      switch event {
      case .progress: self.whole.downstream.other(event)
      case .failed(let error): if !self.lifetime.isEnded { self.whole.failed(self, error) }
      case .completed:
        self.lifetime.end()
        self.whole.downstream.other(event)
      }
    }
  }
}

/// A rule that decides whether, and after which pause, a failed signal runs again.
///
///     signal.retry(3)  // three runs in all, with pauses that double from 200 ms on
///     let policy = RetryPolicy.backoff(attempts: 5, from: .milliseconds(200), upTo: .seconds(10))
///     signal.retry(policy.only { $0 is ConnectionError })
///
/// A number of runs is a policy too. It repeats no failure that another run can't change: one that
/// is permanent (``RetryDelaying/isPermanent``), a cancellation, an answer that can't be decoded.
public struct RetryPolicy: Sendable {
  private let attempts: Int
  private let pause: @Sendable (_ attempt: Int, _ share: Double) -> Duration
  private let longest: Duration

  /// The random share that is subtracted from a pause, or added to one that the error names.
  private let share: @Sendable () -> Double
  private let isWorthwhile: @Sendable (any Error) -> Bool

  /// Runs again without a pause, or after the pause that an error names plus up to half of it.
  ///
  /// An error that names a pause of more than a minute is not retried.
  ///
  /// - Parameter attempts: The number of runs in all; less than one is taken as one.
  public static func immediate(attempts: Int) -> RetryPolicy {
    RetryPolicy(
      attempts: attempts, pause: { _, _ in .zero }, longest: .seconds(60),
      share: { .random(in: 0..<0.5) }, isWorthwhile: { _ in true })
  }

  /// Runs again after a pause that doubles from attempt to attempt.
  ///
  /// A random share is subtracted from each pause, or added to one that an error names, so that
  /// runs that failed together do not restart together.
  ///
  /// - Parameters:
  ///   - attempts: The number of runs in all; less than one is taken as one.
  ///   - first: The pause after the first attempt, before the random share is subtracted.
  ///   - longest: The upper bound of every pause. An error that names a longer one is not retried.
  ///   - jitter: The greatest share of a pause to subtract or add, 0 to 1.
  ///   - chance: Returns a number from 0 to 1 for each pause. Called from any thread.
  public static func backoff(
    attempts: Int, from first: Duration, upTo longest: Duration, jitter: Double = 0.5,
    chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
  ) -> RetryPolicy {
    let longest = longest.addable
    let pause = { @Sendable (attempt: Int, share: Double) in
      let whole = doubled(first.addable, times: attempt - 1, upTo: longest)
      return max(.zero, whole - whole * share)
    }
    return RetryPolicy(
      attempts: attempts, pause: pause, longest: longest,
      share: { min(1, max(0, jitter)) * min(1, max(0, chance())) }, isWorthwhile: { _ in true })
  }

  /// Returns the same policy for errors that satisfy `isWorthwhile`; other errors fail at once.
  ///
  /// - Parameter isWorthwhile: Runs on the thread that sends the failure.
  public func only(
    if isWorthwhile: @escaping @Sendable (any Error) -> Bool
  ) -> RetryPolicy {
    let before = self.isWorthwhile
    return RetryPolicy(
      attempts: attempts, pause: pause, longest: longest, share: share,
      isWorthwhile: { before($0) && isWorthwhile($0) })
  }

  /// Returns the pause before the next attempt; nil if there is none.
  ///
  /// - Parameters:
  ///   - attempt: The number of the failed attempt, from 1.
  ///   - error: The failure.
  @usableFromInline
  package func delay(after attempt: Int, failedWith error: any Error) -> Duration? {
    guard attempt < attempts, isWorthwhile(error) else { return nil }
    let share = share()
    let own = pause(attempt, share)
    guard let named = (error as? any RetryDelaying)?.retryDelay.map({ max(.zero, $0) }) else {
      return own
    }
    if named > longest { return nil }
    // Never earlier than the named pause.
    return max(own, named + min(longest - named, named * share))
  }

  private static func doubled(
    _ time: Duration, times: Int, upTo longest: Duration
  ) -> Duration {
    var time = min(time, longest)
    // After 127 doublings even an attosecond exceeds any duration.
    for _ in 0..<min(127, max(0, times)) {
      if time > longest / 2 { return longest }
      time *= 2
    }
    return time
  }
}

extension RetryPolicy: ExpressibleByIntegerLiteral {
  /// Creates the policy of so many runs in all, for failures that another run may change.
  ///
  /// The first pause is up to 200 ms, and each one up to twice as long as the one before, at most
  /// 10 s.
  ///
  /// - Parameter attempts: The number of runs in all.
  public init(integerLiteral attempts: Int) {
    self = .backoff(attempts: attempts, from: .milliseconds(200), upTo: .seconds(10))
      .only { !$0.isPermanent }
  }
}

extension Error {
  /// Whether another attempt would fail in the same way, as far as the error can tell.
  fileprivate var isPermanent: Bool {
    if self is CancellationError || self is DecodingError { return true }
    return (self as? any RetryDelaying)?.isPermanent ?? false
  }
}

/// An error that can tell whether another attempt makes sense, and when: an HTTP response names a
/// pause in `Retry-After`.
public protocol RetryDelaying: Error {
  /// The shortest pause before the next attempt; nil if the error names none.
  var retryDelay: Duration? { get }

  /// Whether another attempt would fail in the same way; false by default.
  var isPermanent: Bool { get }
}

extension RetryDelaying {
  /// False.
  public var isPermanent: Bool { false }
}
