import Dispatch
import MillpondSignals
import Testing

@testable import MillpondRedis

@Suite struct LeaseNoticeTests {
  @Test func `a change of a key wakes only what waits for that key`() {
    let prefix = TrackedPrefix(number: 1, text: "p/", version: 0)
    let counts = Locked<[String: Int]>([:])
    let following = ["a", "b"].map { key in
      prefix.follow(key) { counts.withLock { $0[key, default: 0] += 1 } }
    }

    prefix.changed("a")
    #expect(counts.withLock { $0 } == ["a": 1])
    prefix.cleared()
    #expect(counts.withLock { $0 } == ["a": 2, "b": 1])
    for handle in following { handle.dispose() }
    prefix.changed("a")
    #expect(counts.withLock { $0 } == ["a": 2, "b": 1])
  }

  @Test func `a notice arrives once, also if its causes meet`() {
    for _ in 0..<20_000 {
      let (notice, count) = (LeaseNotice(), Locked(0))
      notice.await { count.withLock { $0 += 1 } }
      DispatchQueue.concurrentPerform(iterations: 2) { _ in notice.arrive() }
      #expect(count.withLock { $0 } == 1)
    }
  }
}
