import Dispatch
import MillpondTesting
import Testing

/// A gate that is closed at first; passing blocks the thread, so only a test's own may pass.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() {
    semaphore.signal()
  }

  /// - Returns: False if the gate was not opened within the watchdog's time.
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
