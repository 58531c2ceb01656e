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
