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

/// A set of subscriptions that end together, when the bag is released or disposed of.
///
/// - Note: Any thread.
public final class DisposableBag: Sendable {
  private let lifetime = Lifetime()

  /// Creates an empty bag.
  public init() {}

  deinit {
    lifetime.end()
  }

  /// Adds `disposable`, to be disposed of together with the bag; at once if the bag is disposed of
  /// already.
  ///
  /// A subscription that ends by itself leaves the bag.
  public func insert(_ disposable: Disposable) {
    guard let member = disposable.lifetime, !member.isEnded else { return }
    let link = lifetime.child()
    link.onEnd { member.end() }
    member.onEnd { link.end() }
  }

  /// Disposes of everything in the bag, now and whenever something is inserted later.
  public func dispose() {
    lifetime.end()
  }
}

extension Disposable {
  /// Adds this to `bag`, which disposes of it.
  public func disposed(by bag: DisposableBag) {
    bag.insert(self)
  }
}
