public import Synchronization

/// State behind a lock, in one allocation.
///
/// Bodies are short, run only our own pure code (and a key's `Hashable`), and return what the
/// caller has to do after the unlock. Under the lock, nothing is called out to, and no object of a
/// user is released.
///
/// Sendable because the state is touched only under the lock.
@usableFromInline
@_fixed_layout
package final class Locked<State: Sendable>: @unchecked Sendable {
  @usableFromInline let gate = Gate()
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  package init(_ state: State) {
    self.state = state
  }
}

#if !MILLPOND_SCHEDULES
  extension Locked {
    /// Runs `body` with exclusive access to the state.
    @inlinable
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
      gate.lock()
      let result = body(&state)
      gate.unlock()
      return result
    }

    /// Runs `body` with exclusive access, and releases what it returns after the unlock.
    ///
    /// An unused result of ``withLock(_:)`` would not do: the optimiser may release a collection
    /// that is not used any more before the unlock.
    @inlinable
    package func discard<Removed>(_ body: (inout State) -> Removed) {
      let removed = withLock(body)
      withExtendedLifetime(removed) {}
    }
  }

  /// An atomic value; in a build with schedules, each operation is a point of them.
  @usableFromInline
  package typealias AtomicValue<Value: AtomicRepresentable> = Atomic<Value>

  /// The only lock of the libraries, around the standard library's mutex.
  ///
  /// The thread sanitizer does not see into the standard library, and would report false races for
  /// the guarded state. An atomic load and store that it does see prevent that, at no measurable
  /// cost.
  @usableFromInline
  @frozen
  package struct Gate: ~Copyable {
    @usableFromInline let mutex = Mutex<Void>(())
    @usableFromInline let passage = Atomic<UInt8>(0)

    @inlinable
    package init() {}

    /// Runs `body` exclusively.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result>(_ body: () -> Result) -> Result {
      mutex._unsafeLock()
      let passage = passage.load(ordering: .acquiring)
      let result = body()
      self.passage.store(passage, ordering: .releasing)
      mutex._unsafeUnlock()
      return result
    }

    /// Acquires the lock, by a call.
    ///
    /// Inlined, a lock and its release take 140 bytes of code at each of about 700 call sites.
    @usableFromInline
    @inline(never)
    package borrowing func lock() {
      mutex._unsafeLock()
      _ = passage.load(ordering: .acquiring)
    }

    /// Releases the lock, by a call.
    @usableFromInline
    @inline(never)
    package borrowing func unlock() {
      passage.store(0, ordering: .releasing)
      mutex._unsafeUnlock()
    }
  }
#endif

/// A variable that one thread at a time touches, such as the state of a run, whose upstream calls
/// serially.
///
/// Sendable for that reason, which the compiler cannot see. Any other use states its own reason.
@usableFromInline
@_fixed_layout
package final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var value: State

  @inlinable
  package init(_ value: State) {
    self.value = value
  }
}
