public import Synchronization

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
