import MillpondSignals
import Testing

@testable import MillpondRedis

@Suite struct TrackedPrefixTests {
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
}
