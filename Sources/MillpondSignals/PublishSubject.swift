/// A hot signal that is fed by hand.
///
/// All subscribers get what is sent from their subscription on, in the same order. A subscriber that
/// comes after the end gets the end. A subject that is released before its end fails with
/// ``SignalError/abandoned(origin:)``.
///
///     let clicks = PublishSubject<Int>()
///     let subscription = clicks.signal.subscribe(onNext: { print($0) })
///     clicks.next(1)
///
/// - Note: Any thread may send. What is sent from inside a callback, or while another thread delivers,
///   is queued, and delivered by the thread that is delivering.
/// - Complexity: O(*n*) a sending, of *n* subscribers.
public final class PublishSubject<Value: Sendable>: Sendable {
  @usableFromInline let audience = Audience<Value>()
  @usableFromInline let origin: String?

  /// A subject without subscribers.
  @inlinable
  public init(file: StaticString = #fileID, line: UInt = #line) {
    origin = Origin.describe(file, line)
  }

  deinit {
    audience.other(.failed(SignalError.abandoned(origin: origin)))
  }

  /// What is sent, from the subscription on.
  @inlinable
  public var signal: Signal<Value> {
    let audience = audience
    return Signal { audience.attach($0, $1) }
  }

  /// The subject as an observer, which does not keep the subject alive.
  @inlinable
  public var observer: Observer<Value> {
    let audience = audience
    return Observer(next: { audience.next($0) }, other: { audience.other($0) })
  }

  /// Sends a value to everyone.
  @inlinable
  public func next(_ value: Value) {
    audience.next(value)
  }

  /// Sends how far the work has come.
  @inlinable
  public func progress(_ progress: SignalProgress) {
    audience.other(.progress(progress))
  }

  /// Ends the signal by an error; later calls do nothing.
  @inlinable
  public func failed(_ error: any Error) {
    audience.other(.failed(error))
  }

  /// Ends the signal; later calls do nothing.
  @inlinable
  public func completed() {
    audience.other(.completed)
  }
}
