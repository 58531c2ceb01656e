/// Ends a subscription when it is released, or before.
public final class ScopedDisposable: Sendable {
  private let disposable: Disposable

  /// Takes charge of `disposable`.
  public init(_ disposable: Disposable) {
    self.disposable = disposable
  }

  deinit {
    disposable.dispose()
  }

  /// Ends the subscription now.
  ///
  /// Idempotent.
  public func dispose() {
    disposable.dispose()
  }
}

extension Disposable {
  /// A handle that disposes when it is released.
  public func scoped() -> ScopedDisposable {
    ScopedDisposable(self)
  }
}
