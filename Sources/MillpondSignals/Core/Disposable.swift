/// The handle that ends a subscription, or other work that can be given up.
///
/// Dropping a handle ends nothing; ``Disposable/scoped()`` gives one that does. Disposal is silence, not an
/// event: after ``dispose()`` has returned no delivery begins, and no closure of the subscription runs
/// any more, in operators neither. The thread that disposes delivers nothing to others, so it may hold a
/// lock that other observers take.
///
/// - Note: Any thread, also inside a callback.
public struct Disposable: Sendable {
  @usableFromInline let lifetime: Lifetime?

  /// A handle for what has ended already.
  @inlinable
  public init() {
    lifetime = nil
  }

  /// A handle that ends `lifetime`.
  @inlinable
  public init(_ lifetime: Lifetime) {
    self.lifetime = lifetime
  }

  /// A handle that runs `teardown` when disposed of, once.
  public init(_ teardown: @escaping @Sendable () -> Void) {
    let lifetime = Lifetime()
    lifetime.onEnd(teardown)
    self.init(lifetime)
  }

  /// Ends the subscription; idempotent.
  @inlinable
  public func dispose() {
    lifetime?.end()
  }

  /// Whether the subscription has ended, by disposal or by its terminal event.
  @inlinable
  public var isDisposed: Bool {
    lifetime?.isEnded ?? true
  }
}

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
