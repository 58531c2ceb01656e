import Dispatch
import MillpondTesting
import Testing

/// A scene of two threads and a lock, in which a signal that waits for a callback deadlocks.
///
/// While `send` delivers on one thread, a second one takes the lock and runs `meddle` under it; the
/// callback of the first thread wants that lock.
struct HeldLock: Sendable {
  private let lock = DispatchSemaphore(value: 1)
  private let isInCallback = Gate()
  private let isHeld = Gate()

  /// The body of the callback under test, for its first event only.
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
