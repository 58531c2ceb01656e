public import Synchronization

extension Signal {
  /// Runs the signal again when it fails, as `policy` says; the last failure passes.
  ///
  /// Values of the attempts that failed have been passed on already. Progress is that of the running
  /// attempt, so it may start again. An error that is ``RetryDelaying`` lengthens the pause.
  ///
  /// - Complexity: Constant stack, however many attempts fail at once.
  @inlinable
  public func retry(
    _ policy: RetryPolicy, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    guard start != nil else { return self }
    let timeline = Timeline(clock)
    return derived(now: now) { observer, lifetime in
      Retrying(self, observer, lifetime, policy, timeline).run(1)
    }
  }
}

/// Runs one attempt after the other.
@usableFromInline
final class Retrying<Value: Sendable>: Sendable {
  @usableFromInline let signal: Signal<Value>
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let policy: RetryPolicy
  @usableFromInline let timeline: Timeline

  @inlinable
  init(
    _ signal: Signal<Value>, _ downstream: Observer<Value>, _ lifetime: Lifetime,
    _ policy: RetryPolicy, _ timeline: Timeline
  ) {
    self.signal = signal
    self.downstream = downstream
    self.lifetime = lifetime
    self.policy = policy
    self.timeline = timeline
  }

  /// Runs an attempt, and those after it in a loop for as long as they fail at once.
  @inlinable
  func run(_ first: Int) {
    var number = first
    while runOne(number) { number += 1 }
  }

  /// True if the attempt has failed already and the next one is to follow at once.
  @inlinable
  func runOne(_ number: Int) -> Bool {
    if lifetime.isEnded { return false }
    let attempt = RetryAttempt(self, number)
    signal.run(attempt.observer, attempt.lifetime)
    return attempt.isSecond()
  }

  @inlinable
  func failed(_ attempt: RetryAttempt<Value>, _ error: any Error) {
    attempt.lifetime.end()
    if lifetime.isEnded { return }
    guard let delay = policy.delay(after: attempt.number, failedWith: error) else {
      return downstream.failed(error)
    }
    if delay > .zero {
      pause(delay, before: attempt.number + 1)
    } else if attempt.isSecond() {
      run(attempt.number + 1)
    }
  }

  @usableFromInline
  func pause(_ delay: Duration, before number: Int) {
    let pause = lifetime.child()
    let timer = timeline.schedule(after: delay) {
      pause.end()
      self.run(number)
    }
    pause.onEnd { timer.dispose() }
  }
}

/// One attempt: whether its failure came before its start returned decides who goes on.
@usableFromInline
final class RetryAttempt<Value: Sendable>: Sendable {
  @usableFromInline let retrying: Retrying<Value>
  @usableFromInline let number: Int
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let isReached = Atomic<Bool>(false)

  @inlinable
  init(_ retrying: Retrying<Value>, _ number: Int) {
    self.retrying = retrying
    self.number = number
    lifetime = retrying.lifetime.child()
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: retrying.downstream.onNext) { self.other($0) }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    switch event {
    case .progress: retrying.downstream.other(event)
    case .failed(let error): if !lifetime.isEnded { retrying.failed(self, error) }
    case .completed:
      lifetime.end()
      retrying.downstream.other(event)
    }
  }

  /// False for the first who asks, of the starter and the one who failed.
  @inlinable
  func isSecond() -> Bool {
    isReached.exchange(true, ordering: .acquiringAndReleasing)
  }
}
