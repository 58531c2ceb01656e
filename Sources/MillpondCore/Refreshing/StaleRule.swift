public import MillpondSignals

/// The rule of a get that receives a stale value if a new one takes too long.
@usableFromInline
@frozen
struct StaleRule<Content: Sendable>: TimedRule {
  @usableFromInline typealias Value = Stamped<CachedFetch<Content>>

  /// The time for which the get waits for a new value.
  @usableFromInline let delay: Duration
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let beginning: Duration

  /// A stale value that has not been sent yet.
  @usableFromInline var stale: Value?
  @usableFromInline var hasSentStale = false
  @usableFromInline var end: Event<Value>?
  @usableFromInline var deadline: Duration?

  /// Creates the rule of a get that began at `beginning`.
  @inlinable
  init(_ delay: Duration, _ policy: FreshnessPolicy, _ beginning: Duration) {
    self.delay = delay.addable
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
    if hasSentStale { return nil }
    if now >= beginning + delay { return sent(found, at: now) }
    stale = found
    deadline = beginning + delay
    return nil
  }

  @inlinable
  mutating func failed(_ error: any Error, at now: Duration) -> Event<Value>? {
    guard policy.staleOn(error) else { return .failed(error) }
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

  /// Returns a stale value to send to the get; nil if it is no longer usable.
  @inlinable
  mutating func sent(_ found: Value, at now: Duration) -> Event<Value>? {
    stale = nil
    guard policy.isUsable(age: found.deliveredAge(at: now)) else { return nil }
    hasSentStale = true
    return .next(found)
  }
}
