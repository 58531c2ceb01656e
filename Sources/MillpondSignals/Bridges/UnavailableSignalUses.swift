// See `UnavailableUses.swift` of MillpondCore.

extension Signal {
  /// Can't be called: `subscribe { … }` receives events.
  ///
  /// - Parameter onNext: Receives the values.
  @available(
    *, unavailable,
    message: "this closure receives events; one for values has a name: subscribe(onNext: { … })"
  )
  @discardableResult
  public func subscribe(_ onNext: @escaping @Sendable (Value) -> Void) -> Disposable {
    fatalError("the compiler refuses every use")
  }

  /// Can't be called: progress is for observers.
  ///
  /// - Parameter act: Receives the progress.
  @available(
    *, unavailable,
    message: "progress is for observers: subscribe(onProgress: { … })"
  )
  public func onProgress(_ act: @escaping @Sendable (SignalProgress) -> Void) -> Signal {
    fatalError("the compiler refuses every use")
  }
}

extension Disposable {
  /// Can't be called: it has another name.
  @available(*, unavailable, renamed: "dispose()")
  public func cancel() { fatalError("the compiler refuses every use") }
}
