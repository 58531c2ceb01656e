extension Signal {
  /// Passes on a value when no other has followed it for `quiet`.
  ///
  /// A completion sends the waiting value at once, and then passes; a failure drops it. Progress
  /// and failure pass at once.
  ///
  /// - Parameters:
  ///   - quiet: The time without values; with zero or less, every value passes at once.
  ///   - clock: The clock that measures the time.
  /// - Complexity: One timer for a burst of values, not one for each.
  @inlinable
  public func debounce(
    _ quiet: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in DebounceRule(quiet: quiet) }
  }
}

/// The value that waits, and its deadline.
@usableFromInline
package struct DebounceRule<Value: Sendable>: TimedRule {
  @usableFromInline let quiet: Duration
  @usableFromInline var held = HeldValue<Value>()

  @inlinable
  package init(quiet: Duration) {
    self.quiet = max(.zero, quiet)
  }

  @inlinable package var deadline: Duration? { held.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let value) = event else { return held.received(event, at: now) }
    held.hold(value, until: now + quiet)
    return nil
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    held.takeDue(at: now)
  }
}

/// A trigger that acts once calls have ceased for a while.
///
///     let saving = Debouncer(after: .seconds(1)) { document.save() }
///     saving.call()
///     saving.call()   // one second later: saved once
///
/// A debouncer that is released first does not act any more.
///
/// - Note: Any thread may call. The action runs on the clock's thread, or on one that calls at that
///   moment; never twice at once.
public final class Debouncer: Sendable {
  private let calls = PublishSubject<Bool>()

  /// Creates a debouncer that has not been called.
  ///
  /// - Parameters:
  ///   - quiet: The time without calls before the action; with zero or less, each call acts at
  ///     once.
  ///   - clock: The clock that measures the time.
  ///   - act: The action.
  public init(
    after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @Sendable () -> Void
  ) {
    calls.signal.debounce(quiet, clock: clock).subscribe(onNext: { if $0 { act() } })
  }

  /// Schedules the action, in place of one that waits.
  public func call() {
    calls.next(true)
  }

  /// Cancels the action that waits.
  public func cancel() {
    calls.next(false)
  }
}

/// A trigger that acts on the newest value once no other has arrived for a while.
///
/// It does not act on a value that equals the last one it acted on.
///
///     let search = ValueDebouncer<String>(after: .milliseconds(300)) { show(matches(of: $0)) }
///     field.onChange = { search.receive($0) }
///
/// A debouncer that is released first does not act any more.
///
/// - Note: Any thread may call. The action runs on the clock's thread, or on one that calls at that
///   moment; never twice at once.
public final class ValueDebouncer<Value: Sendable & Equatable>: Sendable {
  private let values = PublishSubject<Value>()

  /// Creates a debouncer without a value; its first value counts as a change.
  ///
  /// - Parameters:
  ///   - quiet: The time without values before the action; with zero or less, each value acts at
  ///     once.
  ///   - clock: The clock that measures the time.
  ///   - act: Acts on a value.
  public init(
    after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @Sendable (Value) -> Void
  ) {
    values.signal.debounce(quiet, clock: clock).distinct().subscribe(onNext: act)
  }

  /// Schedules the action on `value`, in place of one that waits.
  public func receive(_ value: Value) {
    values.next(value)
  }
}
