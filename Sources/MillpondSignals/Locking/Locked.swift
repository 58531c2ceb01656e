/// State behind a lock, in one allocation.
///
/// The one lock type of the project. Bodies are short, run only our own pure code (and a key's
/// `Hashable`), and return what is to be done after the unlock: nothing is called out to, and no
/// object of a user is released, while the lock is held.
///
/// - Note: A platform mutex, not `Synchronization.Mutex`: the thread sanitizer, which does not see
///   into the standard library, reports false races for what that guards. Which of them is faster
///   depends on the machine.
/// - Source: measured: `millpond-bench floor`.
@usableFromInline
package struct Locked<State: Sendable>: @unchecked Sendable {
  // Sendable because the buffer's header is touched only between lock and unlock.
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
    buffer.withUnsafeMutablePointers { state, lock in
      lockNative(lock)
      defer { unlockNative(lock) }
      return body(&state.pointee)
    }
  }
}

/// The state in the header, the native lock behind it, where its address never changes.
@usableFromInline
package final class LockedBuffer<State: Sendable>: ManagedBuffer<State, NativeLock> {
  @inlinable
  static func make(_ state: State) -> LockedBuffer<State> {
    let buffer = LockedBuffer.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { openNative($0) }
      return state
    }
    return unsafeDowncast(buffer, to: LockedBuffer<State>.self)
  }

  deinit {
    withUnsafeMutablePointers { _, lock in closeNative(lock) }
  }
}
