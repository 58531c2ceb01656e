import Foundation

/// A value behind a lock.
// Unchecked: `state` is accessed only between lock and unlock.
final class LockedState<State: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var state: State

  init(_ state: State) { self.state = state }

  /// Runs `body` under the lock; it must not call out.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state)
  }
}
