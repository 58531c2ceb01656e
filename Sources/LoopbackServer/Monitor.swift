/// State behind one lock, whose changes a thread can wait for.
///
/// A pthread mutex, not `Synchronization.Mutex`, because the thread sanitizer understands it on
/// Linux.
package final class Monitor<State: Sendable>: @unchecked Sendable {
  // Sendable because `state` is touched only between `lock()` and `unlock()`.
  private var state: State
  private let lock = Platform.Lock()

  package init(_ state: State) { self.state = state }

  deinit { lock.destroy() }

  /// Runs `body` under the lock: our own pure code or one quick system call, no callouts.
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state)
  }

  /// Runs `body` as ``withLock(_:)`` does, and then wakes all waiting threads.
  package func change<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer {
      lock.wakeAll()
      lock.unlock()
    }
    return body(&state)
  }

  /// Blocks until `isReady`, which runs under the lock; returns false if `deadline` comes first.
  package func wait(until deadline: ContinuousClock.Instant?, _ isReady: (State) -> Bool) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    while !isReady(state) {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { return false }
      lock.sleep(atMost: left)
    }
    return true
  }
}
