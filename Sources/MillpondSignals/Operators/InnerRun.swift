public import Synchronization

/// A run that an operator starts as a part of a whole, and after it others.
///
/// Its starter, on return, and its end meet here: the later of the two goes on with what follows. So
/// runs that end at once are followed in a loop, on constant stack.
@usableFromInline
final class InnerRun<Whole: Sendable>: Sendable {
  @usableFromInline let whole: Whole
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let isReached: Atomic<Bool>

  @inlinable
  init(of whole: Whole, in lifetime: Lifetime) {
    self.whole = whole
    self.lifetime = lifetime.child()
    isReached = Atomic(false)
  }

  /// False for the first that asks, of the starter and the end.
  @inlinable
  func isSecond() -> Bool {
    isReached.exchange(true, ordering: .acquiringAndReleasing)
  }
}
