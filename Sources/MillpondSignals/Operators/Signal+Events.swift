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
