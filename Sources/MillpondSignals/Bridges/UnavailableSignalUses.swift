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
}
