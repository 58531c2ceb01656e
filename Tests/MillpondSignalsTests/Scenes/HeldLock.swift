import Dispatch
import MillpondTesting
import Testing

/// The scene of S21: while `send` delivers on one thread, a second thread takes a lock and, holding
/// it, runs `meddle`; the callback of the first wants that lock.
///
/// A signal that makes the second thread wait for the callback deadlocks here.
struct HeldLock: Sendable {
  private let lock = DispatchSemaphore(value: 1)
  private let isInCallback = Gate()
  private let isHeld = Gate()

  /// To be called from the callback under test, for its first event only.
  func callback() {
    isInCallback.open()
    isHeld.pass()
    let limit = DispatchTime.now() + .seconds(Int(Watchdog.limit.components.seconds))
    let isFree = lock.wait(timeout: limit) == .success
    #expect(isFree, "deadlock: the sending thread waits for the callback, the callback for it")
    if isFree { lock.signal() }
  }

  /// Plays the scene to its end.
  func play(
    send: @escaping @Sendable () -> Void, meddle: @escaping @Sendable () -> Void
  ) async throws {
    let done = Watched(0)
    onThread {
      send()
      done.change { $0 += 1 }
    }
    onThread { [self] in
      isInCallback.pass()
      lock.wait()
      isHeld.open()
      meddle()
      lock.signal()
      done.change { $0 += 1 }
    }
    try await done.wait(for: "both threads") { $0 == 2 }
  }
}
