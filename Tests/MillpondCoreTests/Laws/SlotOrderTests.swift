import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// What the soak has found out about slots.
@Suite struct SlotOrderTests {
  @Test func `who leaves is told to stop before the next one starts`() {
    let active = Locked((now: 0, most: 0))
    let origin = AnyCache<Int, Int>(
      get: { _ in
        .create { _, lifetime in
          active.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          lifetime.onEnd { active.withLock { $0.now -= 1 } }
        }
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = origin.limited(to: 1)
    let first = cache.get(1).subscribe()
    let second = cache.get(2).subscribe()

    first.dispose()

    withKnownIssue("the slot is passed on before the work that held it is torn down") {
      #expect(active.withLock { $0.most } == 1)
    }
    second.dispose()
    #expect(active.withLock { $0.now } == 0)
  }
}
