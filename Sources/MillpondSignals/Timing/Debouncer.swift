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
