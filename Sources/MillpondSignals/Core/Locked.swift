public import Synchronization

/// State behind a lock, in one allocation.
///
/// Bodies are short, run only our own pure code (and a key's `Hashable`), and return what is to be
/// done after the unlock: nothing is called out to, and no object of a user is released, while the
/// lock is held.
///
/// Sendable because the state is touched only behind the gate.
@usableFromInline
package final class Locked<State: Sendable>: @unchecked Sendable {
  @usableFromInline let gate: Gate
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  package init(_ state: State) {
    // An initial value beside the property would be a call.
    gate = Gate()
    self.state = state
  }

  /// Runs `body` with exclusive access to the state.
  @inlinable
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    gate.withLock { body(&state) }
  }
}

/// The one lock of the project: the standard library's.
///
/// The thread sanitizer does not see into that library, and would report false races for what it
/// guards. So the gate is also passed by a load and a store that it does see: they cost nothing that
/// could be measured.
@usableFromInline
package struct Gate: ~Copyable {
  @usableFromInline let mutex = Mutex<Void>(())
  @usableFromInline let passage = Atomic<UInt8>(0)

  @inlinable
  package init() {}

  /// Runs `body` while nobody else does.
  @inlinable
  @inline(__always)
  package borrowing func withLock<Result>(_ body: () -> Result) -> Result {
    mutex.withLock { _ in
      let passage = passage.load(ordering: .acquiring)
      // Nothing leaves the region of the lock that the caller would not be allowed to have.
      nonisolated(unsafe) let result = body()
      self.passage.store(passage, ordering: .releasing)
      return result
    }
  }
}
