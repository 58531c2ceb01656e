/// Holds a response back until the test releases it.
///
/// One hold may hold any number of responses. They also end, unsent, when their client closes the
/// connection and when the server stops, so a hold that nobody releases hangs nothing.
public final class Hold: Sendable {
  private struct Waiting: Sendable {
    var isReleased = false
    var lastID = 0
    var wakers: [Int: @Sendable () -> Void] = [:]
  }

  private let waiting = Monitor(Waiting())

  /// A hold that holds.
  public init() {}

  /// Lets everything that is held go on, now and later; a second call does nothing.
  public func release() {
    let wakers = waiting.withLock { waiting in
      defer { waiting.wakers = [:] }
      waiting.isReleased = true
      return waiting.wakers
    }
    for waker in wakers.values { waker() }
  }

  var isReleased: Bool { waiting.withLock { $0.isReleased } }

  /// Calls `waker` once on release, on the releasing thread; nil, and no call, if that has been.
  func addWaker(_ waker: @escaping @Sendable () -> Void) -> Int? {
    waiting.withLock {
      guard !$0.isReleased else { return nil }
      $0.lastID += 1
      $0.wakers[$0.lastID] = waker
      return $0.lastID
    }
  }

  func removeWaker(_ id: Int) {
    _ = waiting.withLock { $0.wakers.removeValue(forKey: id) }
  }
}
