extension Signal {
  /// Runs the newest inner signal only.
  @inlinable
  func switching<NewValue>(
    _ transform: @escaping @Sendable (Value) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    Signal<NewValue> { observer, lifetime in
      let switching = Switching(observer, lifetime.child())
      let outer = switching.lifetime.child()
      run(
        Observer(next: { switching.receive(transform($0)) }) { event in
          if event.isTerminal { outer.end() }
          switching.post(.outer(event))
        }, outer)
    }
  }
}

/// Delivers what the newest inner run sends.
@usableFromInline
final class Switching<Value: Sendable>: @unchecked Sendable {
  // Sendable because `state` is touched only by whoever has the mailbox's turn, and the newest run
  // only by the outer signal, which calls serially.
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let downstream: Observer<Value>
  @exclusivity(unchecked) @usableFromInline var newestNumber = 0
  @exclusivity(unchecked) @usableFromInline var newestLifetime: Lifetime?
  @usableFromInline let mailbox = Mailbox<SwitchingMessage<Value>>()
  @exclusivity(unchecked) @usableFromInline var state = SwitchingState()

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime) {
    self.downstream = downstream
    self.lifetime = lifetime
  }

  /// Called serially, by the outer signal.
  @inlinable
  func receive(_ inner: Signal<Value>) {
    if lifetime.isEnded { return }
    newestNumber += 1
    newestLifetime?.end()
    if let now = inner.now, let value = now() {
      newestLifetime = nil
      post(.settled(newestNumber, value))
    } else {
      start(inner, newestNumber)
    }
  }

  @inlinable
  func start(_ inner: Signal<Value>, _ number: Int) {
    let run = lifetime.child()
    newestLifetime = run
    post(.switched(number))
    inner.start?(
      Observer(next: { self.post(.inner(number, .next($0))) }) { event in
        // A run that fails since it was told to stop must not be heard: it may not be replaced yet.
        if run.isEnded { return }
        if event.isTerminal { run.end() }
        self.post(.inner(number, event.typed()))
      }, run)
  }

  @inlinable
  func post(_ message: SwitchingMessage<Value>) {
    mailbox.post(message, replaces: SwitchingMessage.replaces) { message in
      guard let event = state.received(message) else { return }
      if event.isTerminal { lifetime.end() }
      downstream.send(event)
    }
  }
}

@usableFromInline
enum SwitchingMessage<Value: Sendable>: Sendable {
  case switched(Int)
  case settled(Int, Value)
  case inner(Int, Event<Value>)
  case outer(Event<Never>)

  @inlinable
  static func replaces(_ last: Self, _ new: Self) -> Bool {
    if case .inner(let old, .progress) = last, case .inner(let number, .progress) = new {
      old == number
    } else {
      false
    }
  }
}

/// Whose events count.
@usableFromInline
struct SwitchingState {
  @usableFromInline var current = 0
  @usableFromInline var innerRuns = false
  @usableFromInline var outerRuns = true
  @usableFromInline var isOver = false

  @inlinable
  mutating func received<Value>(_ message: SwitchingMessage<Value>) -> Event<Value>? {
    guard !isOver else { return nil }
    let event: Event<Value>? =
      switch message {
      case .switched(let number): switched(to: number)
      case .settled(let number, let value): settled(number, value)
      case .inner(let number, let event): number == current ? inner(event) : nil
      case .outer(let event): outer(event)
      }
    isOver = event?.isTerminal ?? false
    return event
  }

  @inlinable
  mutating func switched<Value>(to number: Int) -> Event<Value>? {
    current = number
    innerRuns = true
    return nil
  }

  /// An inner signal that is over already; the outer one, which sent it, is not.
  @inlinable
  mutating func settled<Value>(_ number: Int, _ value: Value) -> Event<Value>? {
    current = number
    innerRuns = false
    return .next(value)
  }

  @inlinable
  mutating func inner<Value>(_ event: Event<Value>) -> Event<Value>? {
    guard case .completed = event else { return event }
    innerRuns = false
    return outerRuns ? nil : event
  }

  @inlinable
  mutating func outer<Value>(_ event: Event<Never>) -> Event<Value>? {
    switch event {
    case .progress: return innerRuns ? nil : event.typed()
    case .failed: return event.typed()
    case .completed:
      outerRuns = false
      return innerRuns ? nil : event.typed()
    }
  }
}
