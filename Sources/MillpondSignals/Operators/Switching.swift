extension Signal {
  /// Runs the newest inner signal only.
  @inlinable
  func switching<NewValue>(
    _ transform: @escaping @Sendable (Value) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let switching = Switching(observer, lifetime)
      switching.joining.run(self) {
        switching.receive(transform($0))
      } other: {
        switching.joining.post(.outer($0))
      }
    }
  }
}

// MARK: - What acts

/// Runs the newest inner signal; `SwitchingRule` decides whose events count.
@usableFromInline
final class Switching<Value: Sendable>: @unchecked Sendable {
  // Sendable because the newest run is touched only by the outer signal, which calls serially.
  @usableFromInline let joining: Joining<SwitchingRule<Value>>
  @exclusivity(unchecked) @usableFromInline var newestNumber = 0
  @exclusivity(unchecked) @usableFromInline var newestLifetime: Lifetime?

  @inlinable
  init(_ downstream: Observer<Value>, _ subscriber: Lifetime) {
    joining = Joining(downstream, subscriber, SwitchingRule())
  }

  /// Called serially, by the outer signal.
  @inlinable
  func receive(_ inner: Signal<Value>) {
    if joining.lifetime.isEnded { return }
    newestNumber += 1
    newestLifetime?.end()
    if let now = inner.now, let value = now() {
      newestLifetime = nil
      joining.post(.settled(newestNumber, value))
    } else {
      start(inner, newestNumber)
    }
  }

  @inlinable
  func start(_ inner: Signal<Value>, _ number: Int) {
    let run = joining.lifetime.child()
    newestLifetime = run
    joining.post(.switched(number))
    let observer = Observer<Value>(
      next: { self.joining.post(.inner(number, .next($0))) }
    ) { event in
      // A run that fails since it was told to stop must not be heard: it may not be replaced yet.
      if run.isEnded { return }
      if event.isTerminal { run.end() }
      self.joining.post(.inner(number, event.typed()))
    }
    if observer.canSubscribeInner(run) { inner.start?(observer, run) }
  }
}

// MARK: - What decides

/// Whose events count.
@usableFromInline
struct SwitchingRule<Value: Sendable>: JoiningRule {
  @usableFromInline
  enum Message: Sendable {
    case switched(Int)
    case settled(Int, Value)
    case inner(Int, Event<Value>)
    case outer(Event<Never>)
  }

  @usableFromInline var current = 0
  @usableFromInline var innerRuns = false
  @usableFromInline var outerRuns = true

  @inlinable
  init() {}

  @inlinable
  mutating func received(_ message: Message) -> Event<Value>? {
    switch message {
    case .switched(let number): switched(to: number)
    case .settled(let number, let value): settled(number, value)
    case .inner(let number, let event): number == current ? inner(event) : nil
    case .outer(let event): outer(event)
    }
  }

  @inlinable
  static func replaces(_ last: Message, _ new: Message) -> Bool {
    if case .inner(let old, .progress) = last, case .inner(let number, .progress) = new {
      old == number
    } else {
      false
    }
  }

  @inlinable
  mutating func switched(to number: Int) -> Event<Value>? {
    current = number
    innerRuns = true
    return nil
  }

  /// An inner signal that is over already; the outer one, which sent it, is not.
  @inlinable
  mutating func settled(_ number: Int, _ value: Value) -> Event<Value>? {
    current = number
    innerRuns = false
    return .next(value)
  }

  @inlinable
  mutating func inner(_ event: Event<Value>) -> Event<Value>? {
    guard case .completed = event else { return event }
    innerRuns = false
    return outerRuns ? nil : event
  }

  @inlinable
  mutating func outer(_ event: Event<Never>) -> Event<Value>? {
    switch event {
    case .progress: return innerRuns ? nil : event.typed()
    case .failed: return event.typed()
    case .completed:
      outerRuns = false
      return innerRuns ? nil : event.typed()
    }
  }
}
