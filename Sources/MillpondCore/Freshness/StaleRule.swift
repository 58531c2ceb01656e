import MillpondSignals

/// What an asker gets of what a flight finds, and when.
struct StaleRule<Content: Sendable>: TimedRule {
  typealias Value = Stamped<Recalled<Content>>

  private let use: StaleUse
  private let names: @Sendable (any Error) -> Bool
  private let beginning: Duration

  /// What has not been sent, and may be.
  private var stale: Value?
  private var hasSentStale = false
  private var end: Event<Value>?

  private(set) var deadline: Duration?

  /// The rule of an asker who came at `beginning`.
  init(_ use: StaleUse, _ beginning: Duration, names: @escaping @Sendable (any Error) -> Bool) {
    self.use = use
    self.names = names
    self.beginning = beginning
  }

  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .next(let found) where found.value.isFresh: receivedFresh(event)
    case .next(let found): receivedStale(found, at: now)
    case .failed(let error): failed(error, at: now)
    case .progress, .completed: event
    }
  }

  private mutating func receivedFresh(_ event: Event<Value>) -> Event<Value> {
    (stale, deadline) = (nil, nil)
    return event
  }

  private mutating func receivedStale(_ found: Value, at now: Duration) -> Event<Value>? {
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

  private mutating func failed(_ error: any Error, at now: Duration) -> Event<Value>? {
    guard use != .never, stale != nil || hasSentStale, use == .onAnyError || names(error) else {
      return .failed(error)
    }
    guard let stale else { return .completed }
    end = .completed
    deadline = now
    return .next(stale)
  }

  mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    if let end { return end }
    defer {
      hasSentStale = stale != nil
      stale = nil
    }
    return stale.map { .next($0) }
  }
}
