import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RateLimitedTests {
  let origin = TestOrigin<Int, Int>()
  let clock = ManualClock()

  private func ask(
    _ cache: Governed<TestOrigin<Int, Int>>, _ key: Int, _ priority: Priority = .normal
  ) -> Recorder<Int> {
    Recorder<Int>().subscribe(to: cache.get(key, priority: priority))
  }

  private func started(_ keys: Range<Int>) -> [Int] {
    keys.filter { origin[$0].subscriptions > 0 }
  }

  @Test func `a burst starts at once, and then one for each share of the period`() {
    let cache = origin.rateLimited(to: 10, per: .seconds(1), burst: 3, clock: clock)
    let recorders = (0..<6).map { ask(cache, $0) }
    #expect(started(0..<6) == [0, 1, 2])

    clock.advance(by: .milliseconds(99))
    #expect(started(0..<6) == [0, 1, 2])
    clock.advance(by: .milliseconds(1))
    #expect(started(0..<6) == [0, 1, 2, 3])
    clock.advance(by: .milliseconds(200))
    #expect(started(0..<6) == [0, 1, 2, 3, 4, 5])
    #expect(clock.pendingCount == 0 && recorders.count == 6)
  }

  @Test func `tokens come back up to the burst, and no further`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 2, clock: clock)
    let first = (0..<2).map { ask(cache, $0) }

    clock.advance(by: .seconds(100))
    let second = (2..<6).map { ask(cache, $0) }

    #expect(started(2..<6) == [2, 3])
    #expect(first.count + second.count == 6)
  }

  @Test func `the most urgent goes first, then in order, with one timer`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)
    let asks = [(0, Priority.normal), (1, .low), (2, .normal), (3, .high)]
    let recorders = asks.map { ask(cache, $0.0, $0.1) }

    for expected in [[0], [0, 3], [0, 2, 3], [0, 1, 2, 3]] {
      #expect(started(0..<4) == expected)
      #expect(clock.pendingCount == (expected.count < 4 ? 1 : 0))
      clock.advance(by: .seconds(1))
    }
    #expect(recorders.count == 4)
  }

  @Test func `an urgent caller that joins brings a waiting flight forward`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)
      .reusingInFlight()
    let recorders = (0..<3).map { key in
      Recorder<Int>().subscribe(to: cache.get(key, priority: .low))
    }
    let urgent = Recorder<Int>().subscribe(to: cache.get(2, priority: .high))

    clock.advance(by: .seconds(1))

    #expect(started(0..<3) == [0, 2])
    #expect(recorders.count == 3 && urgent.transcript == [])
  }

  @Test func `a caller that leaves before the start gives up its place at no cost`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)
    _ = ask(cache, 0)
    let waiting = ask(cache, 1)
    let last = ask(cache, 2)

    waiting.dispose()
    clock.advance(by: .seconds(1))

    #expect(started(0..<3) == [0, 2])
    last.dispose()
    _ = ask(cache, 3)
    #expect(clock.pendingCount == 1)
  }

  @Test func `when the last caller leaves, the timer is cancelled`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)
    _ = ask(cache, 0)
    let waiting = ask(cache, 1)
    #expect(clock.pendingCount == 1)

    waiting.dispose()

    #expect(clock.pendingCount == 0)
    clock.advance(by: .milliseconds(500))
    _ = ask(cache, 2)
    clock.advance(by: .milliseconds(500))
    #expect(started(0..<3) == [0, 2])
  }

  @Test(arguments: [
    (0, Duration.seconds(1), 0), (Int.min, .seconds(1), Int.min), (1, .seconds(Int64.max), 1),
    (1, .seconds(Int64.max), Int.max), (Int.max, .seconds(1), Int.max),
  ])
  func `numbers that make no sense are taken as some that do`(
    count: Int, period: Duration, burst: Int
  ) {
    let cache = origin.rateLimited(to: count, per: period, burst: burst, clock: clock)

    _ = ask(cache, 0)
    _ = ask(cache, 1)
    clock.advance(by: .seconds(1))

    #expect(origin[0].subscriptions == 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `a period of nothing is no limit`(period: Duration) {
    let cache = origin.rateLimited(to: 1, per: period, burst: 1, clock: clock)

    let recorders = (0..<50).map { ask(cache, $0) }

    #expect(started(0..<50) == Array(0..<50))
    #expect(recorders.count == 50 && clock.pendingCount == 0)
  }

  @Test func `a hundred years on the system's own clock do not trap`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(Int64.max), burst: 1)
    _ = ask(cache, 0)

    let waiting = ask(cache, 1)

    #expect(origin[1].subscriptions == 0)
    #expect(cache.topology(for: nil).title.hasPrefix("limited to 1 per"))
    waiting.dispose()
  }

  @Test func `ten thousand that end at once need no stack`() {
    let base = TestCache<Int, Int>()
    for key in 0..<10_000 { base.set(key, for: key) }
    let cache = base.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)
    let recorders = (0..<10_000).map { Recorder<Int>().subscribe(to: cache.get($0)) }

    clock.advance(by: .seconds(10_000))

    #expect(recorders.allSatisfy { $0.isCompleted })
  }

  @Test func `racing callers and leavers leave no waiter and no timer`() {
    let cache = origin.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for key in 0..<300 { ask(cache, thread * 1_000 + key).dispose() }
    }

    #expect(clock.pendingCount == 0)
    clock.advance(by: .seconds(10))
    _ = ask(cache, 9_999)
    #expect(origin[9_999].subscriptions == 1)
  }

  @Test func `next to the origin it counts every attempt`() {
    struct Trouble: Error {}
    let clock = ManualClock()
    let calls = Locked(0)
    let failing = AnyCache<Int, Int>(
      get: { _ in
        calls.withLock { $0 += 1 }
        return .fail(Trouble())
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = failing.rateLimited(to: 10, per: .seconds(1), burst: 5, clock: clock)
      .limited(to: 6, reserved: 2)
      .retrying(
        .backoff(attempts: 3, from: .milliseconds(2), upTo: .milliseconds(5)), clock: clock)
    let recorders = (0..<21).map { Recorder<Int>().subscribe(to: cache.get($0)) }

    for second in 1...6 {
      for _ in 0..<100 { clock.advance(by: .milliseconds(10)) }
      #expect(calls.withLock { $0 } == min(63, 5 + 10 * second))
    }
    clock.advance(by: .seconds(1))
    #expect(recorders.allSatisfy { $0.failure is Trouble })
  }

  @Test func `an immediate value needs no token`() {
    let memory = MemoryCache<Int, Int>(countLimit: 5)
    memory.set(1, for: 0)
    let cache = memory.rateLimited(to: 1, per: .seconds(1), burst: 1, clock: clock)

    #expect((0..<5).allSatisfy { _ in cache.now(0, Lookup()) == 1 })
    #expect(Recorder<Int>().subscribe(to: cache.get(1)).isCompleted)
  }
}
