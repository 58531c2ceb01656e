/// The handle that ends a subscription, or other work that can be cancelled.
///
/// Releasing a handle ends nothing; ``Disposable/scoped()`` returns one that does. Disposal is
/// silence, not an event: after ``dispose()`` has returned, no delivery begins, and no closure of
/// the subscription runs, including closures of operators. The disposing thread delivers nothing to
/// other subscribers, so it may hold a lock that their observers take.
///
/// - Note: Any thread, also inside a callback.
@frozen
public struct Disposable: Sendable {
  @usableFromInline let lifetime: Lifetime?

  /// Creates a handle for work that has ended already.
  @inlinable
  public init() {
    lifetime = nil
  }

  /// Creates a handle that ends `lifetime`.
  @inlinable
  public init(_ lifetime: Lifetime) {
    self.lifetime = lifetime
  }

  /// Creates a handle that runs `teardown` once, when it is disposed of.
  public init(_ teardown: @escaping @Sendable () -> Void) {
    let lifetime = Lifetime()
    lifetime.onEnd(teardown)
    self.init(lifetime)
  }

  /// Ends the subscription; idempotent, by an atomic claim of the ``Lifetime``.
  ///
  /// A call that is made while another one still runs the teardowns, also inside one of them,
  /// returns before that has finished; until then, closures of operators may run.
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
