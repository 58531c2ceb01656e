extension Signal {
  /// Passes on a value when none has followed it for `quiet`.
  ///
  /// The value that waits when the signal completes is sent at once, before the completion; a
  /// failure drops it. Progress and failure pass at once.
  ///
  /// - Parameter quiet: Of zero or less: every value passes at once.
  /// - Complexity: One timer for a burst of values, not one each.
  @inlinable
  public func debounce(
    _ quiet: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Timeline(clock)) { _ in DebounceRule(quiet: quiet) }
  }
}

/// Which value waits, and until when.
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

/// Acts once when it has been called, and then not again for a while.
///
///     let saving = Debouncer(after: .seconds(1)) { document.save() }
///     saving.call()
///     saving.call()   // one second later: saved once
///
/// One that is released first does not act any more.
///
/// - Note: Any thread may call. The action runs on the clock's thread, never twice at once.
public final class Debouncer: Sendable {
  private let calls = PublishSubject<Bool>()

  /// A debouncer that has not been called.
  ///
  /// - Parameter quiet: How long no call must have come; of zero or less, each call acts at once.
  public init(
    after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @Sendable () -> Void
  ) {
    calls.signal.debounce(quiet, clock: clock).subscribe(onNext: { if $0 { act() } })
  }

  /// Makes it act, unless another call follows before the time is over.
  public func call() {
    calls.next(true)
  }

  /// Calls off what waits.
  public func cancel() {
    calls.next(false)
  }
}

/// Acts on the newest value once no other has come for a while, and only if it is not the one that
/// it acted on last.
///
///     let search = ValueDebouncer<String>(after: .milliseconds(300)) { show(matches(of: $0)) }
///     field.onChange = { search.receive($0) }
///
/// One that is released first does not act any more.
///
/// - Note: Any thread may call. The action runs on the clock's thread, never twice at once.
public final class ValueDebouncer<Value: Sendable & Equatable>: Sendable {
  private let values = PublishSubject<Value>()

  /// A debouncer that has received nothing; its first value counts as a change.
  ///
  /// - Parameter quiet: How long no value must have come; of zero or less, each acts at once.
  public init(
    after quiet: Duration, clock: some Clock<Duration> = ContinuousClock(),
    _ act: @escaping @Sendable (Value) -> Void
  ) {
    values.signal.debounce(quiet, clock: clock).distinct().subscribe(onNext: act)
  }

  /// Makes it act on `value`, unless another one follows before the time is over.
  public func receive(_ value: Value) {
    values.next(value)
  }
}
