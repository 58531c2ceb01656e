#if MILLPOND_SCHEDULES
  import Synchronization

  /// The only lock of the libraries, as a point of schedules.
  @usableFromInline
  package struct Gate: ~Copyable {
    @usableFromInline let lockable = ScheduledLock()

    @usableFromInline
    package init() {}

    /// Runs `body` exclusively.
    @inlinable
    package borrowing func withLock<Result>(_ body: () -> Result) -> Result {
      lockable.lock()
      let result = body()
      lockable.unlock()
      return result
    }

    /// Acquires the lock.
    @usableFromInline
    package borrowing func lock() {
      lockable.lock()
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

    @usableFromInline
    func lock() {
      guard let thread = LogicalThread.current else { return mutex._unsafeLock() }
      thread.pass(.lock)
      while !mutex._unsafeTryLock() {
        if isLogical { thread.wait(self) } else { yieldThread() }
      }
      isLogical = true
    }

    @usableFromInline
    func unlock() {
      let thread = isLogical ? LogicalThread.current : nil
      isLogical = false
      mutex._unsafeUnlock()
      thread?.wake(self)
    }
  }
#endif
