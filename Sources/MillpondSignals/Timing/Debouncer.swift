/// A trigger that acts on the main actor once calls have ceased for a while.
///
///     let saving = Debouncer(after: .seconds(1)) { document.save() }
///     saving.call()
///     saving.call()   // one second later: saved once
///
/// A debouncer that is released first does not act any more. To act on another thread, debounce a
/// signal: ``Signal/debounce(_:clock:)``.
///
/// - Note: Any thread may call. The action never runs inside a call on another thread than the main
///   one.
public final class Debouncer: Sendable {
  private let calls = PublishSubject<Int>()

  /// The number of cancellations so far, by which a call is known to have been cancelled.
  private let cancellations: Locked<Int>
  private let acting: ScopedDisposable

  /// Creates a debouncer that has not been called.
  ///
  /// - Parameters:
  ///   - quiet: The time without calls before the action; with zero or less, each call acts at
  ///     once.
  ///   - clock: The clock that measures the time.
  ///   - act: The action.
  public init(
    after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @MainActor @Sendable () -> Void
  ) {
    let cancellations = Locked(0)
    self.cancellations = cancellations
    // Without a limit: a main thread that is busy for long must not end the subscription.
    acting = calls.signal.debounce(quiet, clock: clock).receive(on: MainActor.shared, limit: .max)
      // An action that is on its way to the main actor can still be cancelled there.
      .subscribe(onNext: { number in
        MainActor.assumeIsolated { if number == cancellations.withLock({ $0 }) { act() } }
      }).scoped()
  }

  /// Schedules the action, in place of one that waits.
  public func call() {
    calls.next(cancellations.withLock { $0 })
  }

  /// Cancels the action that waits.
  ///
  /// On the main actor, the action does not run after this returns unless it is called again.
  public func cancel() {
    cancellations.withLock { $0 += 1 }
  }
}

/// A value whose changes trigger an action on the main actor, once they have ceased for a while.
///
///     let search = ValueDebouncer("", after: .milliseconds(300)) { show(matches(of: $0)) }
///     field.onChange = { search.value = $0 }
///
/// Assigning an equal value changes nothing and does not prolong the wait. A value that changes
/// away and back meanwhile triggers the action too, since it was changed: `DebouncerVar` of
/// Multiplexer. A debouncer that is released first does not act any more.
///
/// - Note: Any thread may assign.
public final class ValueDebouncer<Value: Sendable & Equatable>: Sendable {
  private let state: Locked<Value>
  private let debouncer: Debouncer

  /// Creates a debouncer that has not been changed.
  ///
  /// - Parameters:
  ///   - value: The value at first; it triggers no action.
  ///   - quiet: The time without changes before the action; with zero or less, each change acts at
  ///     once.
  ///   - clock: The clock that measures the time.
  ///   - act: Acts on the value as it is then.
  public init(
    _ value: Value, after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @MainActor @Sendable (Value) -> Void
  ) {
    let state = Locked(value)
    self.state = state
    debouncer = Debouncer(after: quiet, clock: clock) { act(state.withLock { $0 }) }
  }

  /// The present value; another one schedules the action, in place of one that waits.
  public var value: Value {
    get { state.withLock { $0 } }
    set {
      if value == newValue { return }
      state.discard { value in
        defer { value = newValue }
        return value
      }
      debouncer.call()
    }
  }

  /// Cancels the action that waits; the value stays.
  public func cancel() {
    debouncer.cancel()
  }
}
