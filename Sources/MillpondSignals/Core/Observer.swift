/// A receiver of a signal's events.
///
/// It has two closures, one for values and one for all other events, so that an operator that
/// changes only values forwards the other as it is. An observer from
/// ``Signal/create(file:line:_:)`` or a ``PublishSubject`` may be called from any thread at any
/// time. An observer that an operator receives must be called serially, and not after a terminal
/// event.
@frozen
public struct Observer<Value: Sendable>: Sendable {
  @usableFromInline package let onNext: @Sendable (Value) -> Void
  @usableFromInline let onOther: @Sendable (Event<Never>) -> Void

  /// Creates an observer of two closures.
  ///
  /// - Parameters:
  ///   - next: Receives values.
  ///   - other: Receives progress and the end.
  @inlinable
  public init(
    next: @escaping @Sendable (Value) -> Void,
    other: @escaping @Sendable (Event<Never>) -> Void
  ) {
    onNext = next
    onOther = other
  }

  /// Sends a value.
  @inlinable
  public func next(_ value: Value) {
    onNext(value)
  }

  /// Sends the only value and the end, unless the lifetime has ended.
  @inlinable
  package func only(_ value: Value, _ lifetime: Lifetime) {
    if !lifetime.isEnded { onNext(value) }
    if !lifetime.isEnded { onOther(.completed) }
  }

  /// Sends the progress of the work.
  @inlinable
  public func progress(_ progress: SignalProgress) {
    onOther(.progress(progress))
  }

  /// Ends the signal with an error.
  @inlinable
  public func failed(_ error: any Error) {
    onOther(.failed(error))
  }

  /// Ends the signal.
  @inlinable
  public func completed() {
    onOther(.completed)
  }

  /// Sends progress or the end.
  ///
  /// - Parameter event: The event; not a value.
  @inlinable
  public func other(_ event: Event<Never>) {
    onOther(event)
  }

  /// Sends any event.
  @inlinable
  public func send(_ event: Event<Value>) {
    switch event {
    case .next(let value): onNext(value)
    case .progress(let progress): onOther(.progress(progress))
    case .failed(let error): onOther(.failed(error))
    case .completed: onOther(.completed)
    }
  }
}
