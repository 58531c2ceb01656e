/// A handle that ends its subscription when it is released, or before.
public final class ScopedDisposable: Sendable {
  private let disposable: Disposable

  /// Creates a handle that owns `disposable`.
  public init(_ disposable: Disposable) {
    self.disposable = disposable
  }

  deinit {
    disposable.dispose()
  }

  /// Ends the subscription now; idempotent.
  public func dispose() {
    disposable.dispose()
  }
}

extension Disposable {
  /// Returns a handle that disposes when it is released.
  public func scoped() -> ScopedDisposable {
    ScopedDisposable(self)
  }
}
