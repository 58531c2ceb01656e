public import MillpondSignals

/// The rule by which one get receives what a flight finds: which values, and when.
@usableFromInline
struct StaleRule<Content: Sendable>: TimedRule {
  @usableFromInline typealias Value = Stamped<Recalled<Content>>

  @usableFromInline let use: StaleUse
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let beginning: Duration

  /// A stale value that has not been sent, and may be.
  @usableFromInline var stale: Value?
  @usableFromInline var hasSentStale = false
  @usableFromInline var end: Event<Value>?
  @usableFromInline var deadline: Duration?

  /// The rule of a get that began at `beginning`.
  @inlinable
  init(_ use: StaleUse, _ policy: FreshnessPolicy, _ beginning: Duration) {
    self.use = use
    self.policy = policy
    self.beginning = beginning
  }

  @inlinable
  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .next(let found) where found.value.isFresh:
      (stale, deadline) = (nil, nil)
      return event
    case .next(let found): return receivedStale(found, at: now)
    case .failed(let error): return failed(error, at: now)
    case .progress, .completed: return event
    }
  }

  @inlinable
  mutating func receivedStale(_ found: Value, at now: Duration) -> Event<Value>? {
    switch use {
    case .never: return nil
    case .onNamedErrors, .onAnyError:
      stale = found
      return nil
    case .after where hasSentStale: return nil
    case .after(let patience) where now >= beginning + patience: return sent(found, at: now)
    case .after(let patience):
      stale = found
      deadline = beginning + patience
      return nil
    }
  }

  @inlinable
  mutating func failed(_ error: any Error, at now: Duration) -> Event<Value>? {
    guard policy.standsIn(for: error, by: use) else { return .failed(error) }
    if hasSentStale { return .completed }
    guard let stale, let event = sent(stale, at: now) else { return .failed(error) }
    end = .completed
    deadline = now
    return event
  }

  @inlinable
  mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    if let end { return end }
    return stale.flatMap { sent($0, at: now) }
  }

  /// A stale value on its way to the get; nil if it is not usable any more.
  @inlinable
  mutating func sent(_ found: Value, at now: Duration) -> Event<Value>? {
    stale = nil
    guard policy.isUsable(age: found.deliveredAge(at: now)) else { return nil }
    hasSentStale = true
    return .next(found)
  }
}

extension FreshnessPolicy {
  /// Whether a value that is not fresh may stand in for one that failed with `error`.
  @usableFromInline
  func standsIn(for error: any Error, by use: StaleUse) -> Bool {
    switch use {
    case .never: false
    case .onAnyError: true
    case .onNamedErrors, .after: staleOn(error)
    }
  }
}

extension Signal {
  /// Runs the signal through the rule of a get.
  @inlinable
  func answered<Content>(
    by use: StaleUse, _ policy: FreshnessPolicy, on timeline: Timeline
  ) -> Signal where Value == Stamped<Recalled<Content>> {
    timed(on: timeline) { StaleRule(use, policy, $0) }
  }

  /// Runs the signal through the rule of a get that has nothing to wait for, so without a timer.
  @inlinable
  func answered<Content, Answer>(
    by use: StaleUse, _ policy: FreshnessPolicy, on timeline: Timeline,
    _ content: @escaping @Sendable (Value) -> Answer
  ) -> Signal<Answer> where Value == Stamped<Recalled<Content>> {
    Signal<Answer>(
      start: { observer, lifetime in
        let rule = SerialState(StaleRule<Content>(use, policy, .zero))
        run(
          Observer(
            next: { found in
              // The time matters to no value, only to a failure.
              if case .next? = rule.value.received(.next(found), at: .zero) {
                observer.next(content(found))
              }
            },
            other: { end in
              switch rule.value.received(end.typed(), at: timeline.now()) {
              case .next(let stale)?:
                observer.next(content(stale))
                if !lifetime.isEnded { observer.completed() }
              case let event?:
                if let event = event.withoutValue { observer.other(event) }
              case nil: break
              }
            }), lifetime)
      }, now: nil, emptyError: emptyError)
  }
}
