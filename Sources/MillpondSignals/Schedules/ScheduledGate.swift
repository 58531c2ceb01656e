#if MILLPOND_SCHEDULES
  import Synchronization

  extension Locked {
    /// Runs `body` with exclusive access to the state.
    @inlinable
    package func withLock<Result>(
      file: StaticString = #fileID, line: UInt = #line, _ body: (inout State) -> Result
    ) -> Result {
      gate.lock(file: file, line: line)
      let result = body(&state)
      gate.unlock()
      return result
    }

    /// Runs `body` with exclusive access, and releases what it returns after the unlock.
    @inlinable
    package func discard<Removed>(
      file: StaticString = #fileID, line: UInt = #line, _ body: (inout State) -> Removed
    ) {
      let removed = withLock(file: file, line: line, body)
      withExtendedLifetime(removed) {}
    }
  }

  /// The only lock of the libraries, as a point of schedules.
  @usableFromInline
  package struct Gate: ~Copyable {
    @usableFromInline let lockable = ScheduledLock()

    @usableFromInline
    package init() {}

    /// Runs `body` exclusively.
    @inlinable
    package borrowing func withLock<Result>(
      file: StaticString = #fileID, line: UInt = #line, _ body: () -> Result
    ) -> Result {
      lock(file: file, line: line)
      let result = body()
      unlock()
      return result
    }

    /// Acquires the lock.
    @usableFromInline
    package borrowing func lock(file: StaticString = #fileID, line: UInt = #line) {
      lockable.lock(CodeLine(file: file, line: line))
    }

    /// Releases the lock.
    @usableFromInline
    package borrowing func unlock() {
      lockable.unlock()
    }
  }

  /// A lock with an identity, for which logical threads wait.
  ///
  /// Sendable because the mark is changed by the thread that has the lock.
  @usableFromInline
  final class ScheduledLock: @unchecked Sendable {
    private let mutex = Mutex<Void>(())

    /// Whether a logical thread has the lock: others wait for it by their schedule.
    private var isLogical = false

    @usableFromInline
    init() {}

    func lock(_ line: CodeLine) {
      guard let thread = LogicalThread.current else { return mutex._unsafeLock() }
      thread.pass(.lock, at: line)
      while !mutex._unsafeTryLock() {
        if isLogical { thread.wait(self) } else { yieldThread() }
      }
      isLogical = true
    }

    func unlock() {
      let thread = isLogical ? LogicalThread.current : nil
      isLogical = false
      mutex._unsafeUnlock()
      thread?.wake(self)
    }
  }
#endif
