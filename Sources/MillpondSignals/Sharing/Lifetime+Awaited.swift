import Synchronization

extension Lifetime {
  /// Whether other work is known to wait for this.
  ///
  /// True if a task awaits it, or if it is a part of work that is awaited. A plain subscription may
  /// be waited for or not.
  package var isAwaited: Bool {
    core.bits.load(ordering: .relaxed) & LifetimeCore.awaited != 0
  }

  /// Marks this, and children that are made from now on, as awaited by other work.
  @usableFromInline
  package func markAwaited() {
    core.set(LifetimeCore.awaited)
  }
}
