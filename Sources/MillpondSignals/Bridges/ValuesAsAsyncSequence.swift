extension Signal {
  /// The values as an asynchronous sequence, for one loop; reading this property subscribes.
  ///
  /// Values that arrive faster than the loop takes them are buffered without a bound. Leaving the
  /// loop, or cancelling its task, disposes, once the subscription has returned.
  @inlinable
  public var values: AsyncThrowingStream<Value, any Error> {
    AsyncThrowingStream(bufferingPolicy: .unbounded) { continuation in
      let subscription = subscribeAwaited(
        onNext: { continuation.yield($0) },
        onFailed: { continuation.finish(throwing: $0) },
        onCompleted: { continuation.finish() })
      continuation.onTermination = { _ in subscription.dispose() }
    }
  }
}

extension Signal {
  /// Runs the signal for a task that awaits its events.
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
