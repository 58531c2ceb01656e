public import Synchronization

/// A run that an operator starts as a part of a whole, and after it others.
///
/// Its starter, on return, and its end meet here: the later of the two goes on with what follows. So
/// runs that end at once are followed in a loop, on constant stack.
@usableFromInline
final class InnerRun<Whole: Sendable>: Sendable {
  @usableFromInline let whole: Whole
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let meeting = Meeting()

  @inlinable
  init(of whole: Whole, in lifetime: Lifetime) {
    self.whole = whole
    self.lifetime = lifetime.child()
  }

  /// False for the first that asks, of the starter and the end.
  @inlinable
  func isSecond() -> Bool { meeting.isSecond() }
}

/// A place where two that run side by side meet: the later one goes on for both.
@usableFromInline
package struct Meeting: ~Copyable, Sendable {
  @usableFromInline let isReached: Atomic<Bool>

  @inlinable
  package init() {
    isReached = Atomic(false)
  }

  /// False for the first that asks, true for the second.
  @inlinable
  package borrowing func isSecond() -> Bool {
    isReached.exchange(true, ordering: .acquiringAndReleasing)
  }
}
