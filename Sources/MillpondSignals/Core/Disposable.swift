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
