public import Synchronization

/// State behind a lock, in one allocation.
///
/// Bodies are short, run only our own pure code (and a key's `Hashable`), and return what is to be
/// done after the unlock: nothing is called out to, and no object of a user is released, while the
/// lock is held.
@usableFromInline
package struct Locked<State: Sendable>: @unchecked Sendable {
  // Sendable because the buffer's header is touched only behind the gate.
  @usableFromInline let buffer: LockedBuffer<State>

  @inlinable
  package init(_ state: State) {
    buffer = LockedBuffer.make(state)
  }

  @inlinable
  init(buffer: LockedBuffer<State>) {
    self.buffer = buffer
  }

  /// Runs `body` with exclusive access to the state.
  @inlinable
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    buffer.withUnsafeMutablePointers { state, gate in
      gate.pointee.withLock { body(&state.pointee) }
    }
  }
}

/// The state in the header, the gate behind it, where its address never changes.
@usableFromInline
package final class LockedBuffer<State: Sendable>: ManagedBuffer<State, Gate> {
  @inlinable
  static func make(_ state: State) -> LockedBuffer<State> {
    let buffer = LockedBuffer.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { $0.initialize(to: Gate()) }
      return state
    }
    return unsafeDowncast(buffer, to: LockedBuffer<State>.self)
  }

  deinit {
    _ = withUnsafeMutablePointerToElements { $0.deinitialize(count: 1) }
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
