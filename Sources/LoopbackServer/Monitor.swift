/// State behind one lock, with a way to wait for it to change.
///
/// A pthread mutex and not `Synchronization.Mutex`: the thread sanitizer understands it on Linux.
final class Monitor<State: Sendable>: @unchecked Sendable {
  // Proof of Sendable: `state` is only touched between `lock()` and `unlock()`.
  private var state: State
  private let lock = Platform.Lock()

  init(_ state: State) { self.state = state }

  deinit { lock.destroy() }

  /// `body` runs under the lock: our own pure code or one quick system call, no callouts.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state)
  }

  /// As ``withLock(_:)``, and then wakes everyone who waits.
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer {
      lock.wakeAll()
      lock.unlock()
    }
    return body(&state)
  }

  /// Blocks until `isReady`, which runs under the lock; false when `deadline` came first.
  func wait(until deadline: ContinuousClock.Instant?, _ isReady: (State) -> Bool) -> Bool {
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
