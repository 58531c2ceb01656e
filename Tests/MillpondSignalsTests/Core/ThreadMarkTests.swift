import Testing

@testable import MillpondSignals

@Suite struct ThreadMarkTests {
  /// Seen to fail in an optimised build, where the identity of a thread was read once for a whole
  /// function.
  @Test func `a task that goes on on another thread has the mark of that thread`() async {
    // Behind a lock, so that the optimiser does not look into the closure.
    let called = Locked<@Sendable () -> UInt>({ threadMark() })
    let wrong = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<16 {
        group.addTask {
          var wrong = 0
          for _ in 0..<50 {
            if threadMark() != called.withLock({ $0 })() { wrong += 1 }
            await Task.yield()
          }
          return wrong
        }
      }
      return await group.reduce(0, +)
    }

    #expect(wrong == 0)
  }
}
