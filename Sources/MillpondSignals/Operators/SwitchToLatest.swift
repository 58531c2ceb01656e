extension Signal {
  /// Sends the events of the newest signal that arrived as a value; disposes of the one before.
  ///
  /// Completes when the newest signal and this one have completed; the first failure ends
  /// everything. Progress is the newest signal's, or this signal's while none runs.
  @inlinable
  public func switchToLatest<Inner>() -> Signal<Inner> where Value == Signal<Inner> {
    flatMap(.latest) { $0 }
  }
}

extension Signal {
  /// Runs only the newest inner signal.
  @inlinable
  func switching<NewValue>(
    _ transform: @escaping @Sendable (Value) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let joining = MultipleInputs(observer, lifetime, SwitchingRule<NewValue>())
      let newest = SerialState((number: 0, lifetime: Lifetime?.none))
      joining.run(self) {
        joining.replace(newest, by: transform($0))
      } other: {
        joining.post(.outer($0))
      }
    }
  }
}

// MARK: - The engine

extension MultipleInputs {
  /// Ends the newest inner run, and starts a run of `inner`; ``SwitchingRule`` decides which events
  /// count.
  ///
  /// - Parameters:
  ///   - newest: The newest run, touched only by the outer signal, which calls serially.
  ///   - inner: The signal that follows.
  @inlinable
  func replace<Value>(
    _ newest: SerialState<(number: Int, lifetime: Lifetime?)>, by inner: Signal<Value>
  ) where Rule == SwitchingRule<Value> {
    if lifetime.isEnded { return }
    let number = newest.value.number + 1
    newest.value.number = number
    newest.value.lifetime?.end()
    if let now = inner.now, let settled = now() {
      newest.value.lifetime = nil
      post(.settled(number, settled))
    } else {
      let run = lifetime.child()
      newest.value.lifetime = run
      post(.switched(number))
      start(inner, number, run)
    }
  }

  @inlinable
  func start<Value>(
    _ inner: Signal<Value>, _ number: Int, _ run: Lifetime
  ) where Rule == SwitchingRule<Value> {
    let observer = Observer<Value>(
      next: { self.post(.inner(number, .next($0))) }
    ) { event in
      // The failure of a run that was ended is dropped, even before its replacement is posted.
      if run.isEnded { return }
      if event.isTerminal { run.end() }
      self.post(.inner(number, event.typed()))
    }
    inner.start?(observer, run)
  }
}

// MARK: - The rule

/// The number of the run whose events count, and the signals that still run.
@usableFromInline
@frozen
struct SwitchingRule<Value: Sendable>: MultipleInputsRule {
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

  /// Makes an inner signal that is over already the current one; the outer one, its sender, still
  /// runs.
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
