import Dispatch
import MillpondSignals
import Testing

@testable import MillpondRedis

@Suite struct LeaseNoticeTests {
  @Test func `a notice arrives once, also if its causes meet`() {
    for _ in 0..<20_000 {
      let (notice, count) = (LeaseNotice(), Locked(0))
      notice.await { count.withLock { $0 += 1 } }
      DispatchQueue.concurrentPerform(iterations: 2) { _ in notice.arrive() }
      #expect(count.withLock { $0 } == 1)
    }
  }
}
