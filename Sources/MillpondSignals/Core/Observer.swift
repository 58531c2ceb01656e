/// Receives a signal's events.
///
/// Two closures: one for values, one for everything rarer, so that an operator that changes only
/// values forwards the other as it is. An observer that ``Signal/create(file:line:_:)`` or a ``PublishSubject`` hands
/// out may be called from any thread, at any time; one that an operator is given must be called
/// serially, and not after a terminal event.
public struct Observer<Value: Sendable>: Sendable {
  @usableFromInline let onNext: @Sendable (Value) -> Void
  @usableFromInline let onOther: @Sendable (Event<Never>) -> Void

  /// Receives values in `next`, and progress and the end in `other`.
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

  /// Sends how far the work has come.
  @inlinable
  public func progress(_ progress: SignalProgress) {
    onOther(.progress(progress))
  }

  /// Ends the signal by an error.
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

  /// An observer of other values, that forwards everything else to this one.
  @inlinable
  public func replacingNext<NewValue>(
    _ next: @escaping @Sendable (NewValue) -> Void
  ) -> Observer<NewValue> {
    Observer<NewValue>(next: next, other: onOther)
  }

  /// An observer that forwards values to this one, and does something else with the rest.
  @inlinable
  public func replacingOther(
    _ other: @escaping @Sendable (Event<Never>) -> Void
  ) -> Observer {
    Observer(next: onNext, other: other)
  }
}
