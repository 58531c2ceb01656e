import Foundation

/// State behind one lock, whose changes a thread can wait for.
///
/// Foundation's condition, not `Synchronization.Mutex`, because the thread sanitizer understands it
/// on Linux.
package final class Monitor<State: Sendable>: @unchecked Sendable {
  // Sendable because `state` is touched only under the lock.
  private var state: State
  private let condition = NSCondition()

  package init(_ state: State) { self.state = state }

  /// Runs `body` under the lock: our own pure code or one quick system call, no callouts.
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body(&state)
  }

  /// Runs `body` as ``withLock(_:)`` does, and then wakes all waiting threads.
  package func change<Result>(_ body: (inout State) -> Result) -> Result {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return body(&state)
  }

  /// Blocks until `isReady`, which runs under the lock; returns false if `deadline` comes first.
  package func wait(until deadline: ContinuousClock.Instant?, _ isReady: (State) -> Bool) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while !isReady(state) {
      guard let deadline else {
        condition.wait()
        continue
      }
      let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
      if left <= 0 { return false }
      // In parts, because the condition waits by the wall clock, which may be set back.
      _ = condition.wait(until: Date(timeIntervalSinceNow: min(left, 1)))
    }
    return true
  }
}
