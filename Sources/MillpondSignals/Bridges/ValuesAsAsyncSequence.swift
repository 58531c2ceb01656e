extension Signal {
  /// The values as an asynchronous sequence, for one loop; reading this property subscribes.
  ///
  /// Values that arrive faster than the loop takes them are buffered without a bound. Leaving the
  /// loop, or cancelling its task, disposes, once the subscription has returned.
  @inlinable
  public var values: AsyncThrowingStream<Value, any Error> {
    AsyncThrowingStream(bufferingPolicy: .unbounded) { continuation in
      let subscription = Subscription<Value>(
        onProgress: nil, onNext: { continuation.yield($0) },
        onFailed: { continuation.finish(throwing: $0) }, onCompleted: { continuation.finish() })
      let lifetime = subscription.lifetime
      lifetime.markAwaited()
      run(subscription.observer, lifetime)
      continuation.onTermination = { _ in
        runCancellationHandler { lifetime.end() }
      }
    }
  }
}
