public import Synchronization

/// A run that an operator starts as one part of a whole, with others to follow.
///
/// Its starter, on return, and its end meet here; the later of the two continues with the next run.
/// So runs that end at once are followed in a loop, on constant stack.
@usableFromInline
@_fixed_layout
final class InnerSubscription<Whole: Sendable>: Sendable {
  @usableFromInline let whole: Whole
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let rendezvous = Rendezvous()

  @inlinable
  init(of whole: Whole, in lifetime: Lifetime) {
    self.whole = whole
    self.lifetime = lifetime.child()
  }

  /// Returns false to the first of two callers, the starter and the end, and true to the second.
  @inlinable
  func isSecond() -> Bool { rendezvous.isSecond() }
}

/// A meeting point of two concurrent steps, where the later one continues for both.
@usableFromInline
@frozen
package struct Rendezvous: ~Copyable, Sendable {
  @usableFromInline let isReached = AtomicValue(false)

  @inlinable
  package init() {}

  /// Returns false to the first caller, and true to the second.
  @inlinable
  package borrowing func isSecond() -> Bool {
    isReached.exchange(true, ordering: .acquiringAndReleasing)
  }
}
