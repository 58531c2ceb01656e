public import Synchronization

/// The meeting of two who both have to arrive before one of them, the later, goes on.
@usableFromInline
package struct Rendezvous: ~Copyable, Sendable {
  @usableFromInline let hasFirst: Atomic<Bool>

  @inlinable
  package init() {
    hasFirst = Atomic(false)
  }

  /// Notes an arrival; false for the first one.
  @inlinable
  package borrowing func isSecond() -> Bool {
    hasFirst.exchange(true, ordering: .acquiringAndReleasing)
  }
}
