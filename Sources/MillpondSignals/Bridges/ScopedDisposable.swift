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

/// Ends many subscriptions at once: when it is released, or told to.
///
/// - Note: Any thread.
public final class DisposableBag: Sendable {
  private let lifetime = Lifetime()

  /// An empty bag.
  public init() {}

  deinit {
    lifetime.end()
  }

  /// Disposes of `disposable` together with the bag; at once if that is over already.
  ///
  /// What ends by itself leaves the bag.
  public func insert(_ disposable: Disposable) {
    guard let member = disposable.lifetime, !member.isEnded else { return }
    let link = lifetime.child()
    link.onEnd { member.end() }
    member.onEnd { link.end() }
  }

  /// Disposes of everything in the bag, and of whatever is inserted later.
  public func dispose() {
    lifetime.end()
  }
}

extension Disposable {
  /// Lets `bag` end this, too.
  public func disposed(by bag: DisposableBag) {
    bag.insert(self)
  }
}
