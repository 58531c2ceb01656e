/// A hot signal that is fed by hand.
///
/// Every subscriber receives the events sent after its subscription, all in the same order. A
/// subscriber that arrives after the end receives the end. A subject that is released before its
/// end fails with ``SignalError/abandoned(origin:)``.
///
///     let clicks = PublishSubject<Int>()
///     let subscription = clicks.signal.subscribe(onNext: { print($0) })
///     clicks.next(1)
///
/// - Note: Any thread may send. An event that is sent inside a callback, or while another thread
///   delivers, is queued; the delivering thread delivers it.
/// - Complexity: O(*n*) for each event, with *n* subscribers.
@_fixed_layout
public final class PublishSubject<Value: Sendable>: Sendable {
  @usableFromInline let run = Run<Value>(repeatsLatest: false)
  @usableFromInline let origin: String?

  /// Creates a subject without subscribers.
  ///
  /// - Parameters:
  ///   - file: The file to name if the subject is released before its end.
  ///   - line: The line to name.
  @inlinable
  public init(file: StaticString = #fileID, line: UInt = #line) {
    origin = placeInCode(file, line)
  }

  deinit {
    run.other(.failed(SignalError.abandoned(origin: origin)))
  }

  /// The events that are sent from the subscription on.
  @inlinable
  public var signal: Signal<Value> {
    let run = run
    return Signal { run.attach($0, $1) }
  }

  /// An observer that feeds the subject without retaining it.
  @inlinable
  public var observer: Observer<Value> {
    let run = run
    return Observer(next: { run.next($0) }, other: { run.other($0) })
  }

  /// Sends a value to all subscribers.
  @inlinable
  public func next(_ value: Value) {
    run.next(value)
  }

  /// Sends the progress of the work.
  @inlinable
  public func progress(_ progress: SignalProgress) {
    run.other(.progress(progress))
  }

  /// Ends the signal with an error; later calls do nothing.
  @inlinable
  public func failed(_ error: any Error) {
    run.other(.failed(error))
  }

  /// Ends the signal; later calls do nothing.
  @inlinable
  public func completed() {
    run.other(.completed)
  }
}
