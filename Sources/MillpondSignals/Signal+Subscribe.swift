extension Signal {
  /// Runs the signal and receives its events.
  ///
  /// A signal that has its answer ready delivers it before this returns. Dropping the handle does
  /// not end the subscription.
  ///
  /// - Returns: The handle that ends the subscription.
  /// - Note: The closures run on the thread that sends, or on one that is delivering at that moment;
  ///   never two at once.
  @inlinable
  @discardableResult
  public func subscribe(
    onProgress: (@Sendable (SignalProgress) -> Void)? = nil,
    onNext: (@Sendable (Value) -> Void)? = nil,
    onFailed: (@Sendable (any Error) -> Void)? = nil,
    onCompleted: (@Sendable () -> Void)? = nil
  ) -> Disposable {
    if let value = now?() {
      onNext?(value)
      onCompleted?()
      return Disposable()
    }
    let subscription = Subscription(
      onProgress: onProgress, onNext: onNext, onFailed: onFailed, onCompleted: onCompleted)
    start?(subscription.observer, subscription.lifetime)
    return Disposable(subscription.lifetime)
  }

  /// Runs the signal and receives its events as data.
  @inlinable
  @discardableResult
  public func subscribe(_ receive: @escaping @Sendable (Event<Value>) -> Void) -> Disposable {
    subscribe(
      onProgress: { receive(.progress($0)) }, onNext: { receive(.next($0)) },
      onFailed: { receive(.failed($0)) }, onCompleted: { receive(.completed) })
  }
}

extension Signal {
  /// Runs the signal for a task that waits for its events.
  @inlinable
  func subscribeAwaited(
    onNext: @escaping @Sendable (Value) -> Void,
    onFailed: @escaping @Sendable (any Error) -> Void,
    onCompleted: @escaping @Sendable () -> Void
  ) -> Disposable {
    let subscription = Subscription(
      onProgress: nil, onNext: onNext, onFailed: onFailed, onCompleted: onCompleted)
    subscription.lifetime.markAwaited()
    run(subscription.observer, subscription.lifetime)
    return Disposable(subscription.lifetime)
  }
}

/// The end of the chain, where the grammar and the silence after disposal are kept.
///
/// A handle holds the lifetime only, so what the closures captured goes when the sender lets go.
@usableFromInline
final class Subscription<Value: Sendable>: Sendable {
  @usableFromInline let lifetime = Lifetime()
  @usableFromInline let onProgress: (@Sendable (SignalProgress) -> Void)?
  @usableFromInline let onNext: (@Sendable (Value) -> Void)?
  @usableFromInline let onFailed: (@Sendable (any Error) -> Void)?
  @usableFromInline let onCompleted: (@Sendable () -> Void)?

  @inlinable
  init(
    onProgress: (@Sendable (SignalProgress) -> Void)?,
    onNext: (@Sendable (Value) -> Void)?,
    onFailed: (@Sendable (any Error) -> Void)?,
    onCompleted: (@Sendable () -> Void)?
  ) {
    self.onProgress = onProgress
    self.onNext = onNext
    self.onFailed = onFailed
    self.onCompleted = onCompleted
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    if !lifetime.isEnded { onNext?(value) }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    switch event {
    case .progress(let progress): if !lifetime.isEnded { onProgress?(progress) }
    case .failed(let error): lifetime.end { onFailed?(error) }
    case .completed: lifetime.end { onCompleted?() }
    }
  }
}
