/// A handle that holds back responses until the test releases it.
///
/// One hold may hold any number of responses. A held response also ends, unsent, when its client
/// closes the connection or the server stops, so an unreleased hold blocks nothing for ever.
public final class ResponseHold: Sendable {
  private struct State: Sendable {
    var isReleased = false
    var lastID = 0
    var wakers: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Monitor(State())

  /// Creates an unreleased hold.
  public init() {}

  /// Releases all responses, present and later ones; idempotent.
  public func release() {
    let wakers = state.withLock { state in
      defer { state.wakers = [:] }
      state.isReleased = true
      return state.wakers
    }
    for waker in wakers.values { waker() }
  }

  var isReleased: Bool { state.withLock { $0.isReleased } }

  /// Calls `waker` once on release, on the releasing thread.
  ///
  /// - Returns: The number for ``removeWaker(_:)``; nil, without a call, if the hold is released
  ///   already.
  func addWaker(_ waker: @escaping @Sendable () -> Void) -> Int? {
    state.withLock {
      guard !$0.isReleased else { return nil }
      $0.lastID += 1
      $0.wakers[$0.lastID] = waker
      return $0.lastID
    }
  }

  func removeWaker(_ id: Int) {
    _ = state.withLock { $0.wakers.removeValue(forKey: id) }
  }
}
