extension Signal {
  /// Never sends an event, not even an end.
  @inlinable
  public static var never: Signal {
    Signal { _, _ in }
  }
}

extension Signal {
  /// Runs the signal and passes each event to `receive`.
  @inlinable
  @discardableResult
  public func subscribe(_ receive: @escaping @Sendable (Event<Value>) -> Void) -> Disposable {
    subscribe(
      onProgress: { receive(.progress($0)) }, onNext: { receive(.next($0)) },
      onFailed: { receive(.failed($0)) }, onCompleted: { receive(.completed) })
  }
}
