public import MillpondSignals

/// What an asker gets of what a flight finds, and when.
@usableFromInline
struct StaleRule<Content: Sendable>: TimedRule {
  @usableFromInline typealias Value = Stamped<Recalled<Content>>

  @usableFromInline let use: StaleUse
  @usableFromInline let names: @Sendable (any Error) -> Bool
  @usableFromInline let beginning: Duration

  /// What has not been sent, and may be.
  @usableFromInline var stale: Value?
  @usableFromInline var hasSentStale = false
  @usableFromInline var end: Event<Value>?
  @usableFromInline var deadline: Duration?

  /// The rule of an asker who came at `beginning`.
  @inlinable
  init(_ use: StaleUse, _ beginning: Duration, names: @escaping @Sendable (any Error) -> Bool) {
    self.use = use
    self.names = names
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
    case .after(let patience) where now >= beginning + patience:
      hasSentStale = true
      return .next(found)
    case .after(let patience):
      stale = found
      deadline = beginning + patience
      return nil
    }
  }

  @inlinable
  mutating func failed(_ error: any Error, at now: Duration) -> Event<Value>? {
    guard stale != nil || hasSentStale, use == .onAnyError || names(error) else {
      return .failed(error)
    }
    guard let stale else { return .completed }
    end = .completed
    deadline = now
    return .next(stale)
  }

  @inlinable
  mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    if let end { return end }
    guard let stale else { return nil }
    hasSentStale = true
    self.stale = nil
    return .next(stale)
  }
}

extension Signal {
  /// Runs the signal through the rule of an asker.
  @inlinable
  func answered<Content>(
    by use: StaleUse, on timeline: Timeline, names: @escaping @Sendable (any Error) -> Bool
  ) -> Signal where Value == Stamped<Recalled<Content>> {
    timed(on: timeline) { StaleRule(use, $0, names: names) }
  }

  /// Runs the signal through the rule of an asker who has nothing to wait for, so without a timer.
  @inlinable
  func answered<Content, Answer>(
    by use: StaleUse, names: @escaping @Sendable (any Error) -> Bool,
    _ content: @escaping @Sendable (Value) -> Answer
  ) -> Signal<Answer> where Value == Stamped<Recalled<Content>> {
    Signal<Answer>(
      start: { observer, lifetime in
        let rule = SerialState(StaleRule<Content>(use, .zero, names: names))
        run(
          Observer(
            next: { found in
              if case .next? = rule.value.received(.next(found), at: .zero) {
                observer.next(content(found))
              }
            },
            other: { end in
              switch rule.value.received(end.typed(), at: .zero) {
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
