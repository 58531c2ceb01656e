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
