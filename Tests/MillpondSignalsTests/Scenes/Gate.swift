import Dispatch
import MillpondTesting
import Testing

/// Closed until somebody opens it; passing blocks the thread, so only a test's own may pass.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() {
    semaphore.signal()
  }

  /// - Returns: False if nobody opened it within the watchdog's time.
  @discardableResult
  func pass() -> Bool {
    let seconds = Int(Watchdog.limit.components.seconds)
    guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else {
      Issue.record("nobody opened the gate")
      return false
    }
    semaphore.signal()
    return true
  }
}
