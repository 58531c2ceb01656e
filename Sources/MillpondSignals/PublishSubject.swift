/// A hot signal that is fed by hand.
///
/// Everyone who is subscribed gets what is sent from then on, all in the same order. Who comes
/// after the end gets the end. A pipe that is released before its end fails with
/// ``SignalError/abandoned(origin:)``.
///
///     let pipe = PublishSubject<Int>()
///     let subscription = pipe.signal.subscribe(onNext: { print($0) })
///     pipe.next(1)
///
/// - Note: Any thread may send. Sending from inside a callback is queued until that returns.
/// - Complexity: O(*n*) a sending, of *n* subscribers.
public final class PublishSubject<Value: Sendable>: Sendable {
  @usableFromInline let audience = Audience<Value>()
  @usableFromInline let origin: String?

  /// A pipe without subscribers.
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

  /// The pipe as an observer, which does not keep the pipe alive.
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
