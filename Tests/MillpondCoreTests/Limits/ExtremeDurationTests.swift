import MillpondTesting
import Testing

@testable import MillpondCore
@testable import MillpondSignals

/// Every time that a caller names may be any duration, on every clock.
@Suite struct ExtremeDurationTests {
  /// A user's clock, so that timers are tasks that sleep.
  private struct PlainClock: Clock {
    let base: ManualClock
    var now: ManualClock.Instant { base.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test func `limits, policies and times to live of any duration do not end the process`() async {
    await #expect(processExitsWith: .success) {
      let durations = [
        Duration(attoseconds: .max), .seconds(Int64.max), .zero, .seconds(-1),
        .seconds(Int64.min), Duration(attoseconds: .min),
      ]
      let clock = ManualClock()
      for duration in durations {
        clock.advance(by: .milliseconds(20))
        Self.run(duration, clock)
        Self.run(duration, PlainClock(base: clock))
        Self.run(duration, ContinuousClock())
        Self.run(duration, SuspendingClock())
      }
      // The tasks of timers begin to sleep.
      for _ in 0..<20 { await Task.yield() }
      clock.advance(by: .milliseconds(20))
    }
  }

  private static func run(_ time: Duration, _ clock: some Clock<Duration>) {
    let origin = FunctionSource<Int, Int>.signal { _ in .never }
    let failing = FunctionSource<Int, Int>.signal { _ in .fail(CacheError.miss) }
    let answering = FunctionSource<Int, Int>.signal { .just($0) }
    let deadline = Deadline.after(time, clock: clock)
    _ = (deadline.remaining, deadline.after(share: 0.5).remaining)
    origin.get(1, deadline: deadline).subscribe()
    origin.timingOut(after: time, clock: clock).get(1).subscribe()
    origin.hedged(with: origin, after: time, clock: clock).get(1).subscribe()
    for source in [origin, failing] {
      let breaking = source.circuitBreaking(afterFailures: 1, for: time, clock: clock)
      for _ in 0..<2 { breaking.get(1).subscribe() }
      let rated = source.rateLimited(to: 1, per: time, clock: clock)
      for _ in 0..<2 { rated.get(1).subscribe() }
      source.retrying(
        .backoff(attempts: 2, from: time, upTo: time, jitter: 1), clock: clock
      ).get(1).subscribe()
    }
    BulkSource<Int, Int> { _ in .never }.batching(window: time, max: 9, clock: clock).get(1)
      .subscribe()
    origin.reusingInFlight(clock: clock).flights(olderThan: time, clock: clock).subscribe()
    let memory = MemoryCache<Int, Int>(
      countLimit: 9, timeToLive: .after(time), timeToIdle: .after(time), jitter: 0.5, clock: clock)
    memory.set(1, for: 1)
    memory.set(2, for: 2, timeToLive: .after(time))
    memory.setTimeToLive(.after(time), for: 1)
    memory.set(3, for: 3, timeToLive: .forever)
    memory.timeToLive = .after(time)
    for key in 1...3 { memory.get(key, freshness: .atMost(time)).subscribe() }
    for jitter in [0, 1.0] {
      for source in [failing, answering] {
        let policy = FreshnessPolicy(
          freshFor: .after(time), usableFor: .after(time), stale: .after(time), jitter: jitter,
          refreshAhead: time, refreshDeadline: time, failureLife: { _ in time })
        let cache = source.remembered(
          in: MemoryCache(countLimit: 9, clock: clock), policy, clock: clock)
        for _ in 0..<2 { cache.get(1).subscribe() }
        cache.get(1, freshness: .atMost(time)).subscribe()
        cache.markStale(1)
        cache.get(1).subscribe()
        cache.observe(1, every: time).subscribe()
      }
    }
    answering.shutDown(deadline: Deadline.after(time, clock: clock)).subscribe()
    Signal<MemoryPressure>.ofSystem(checkingEvery: time, repeatingEvery: time, clock: clock)
      .subscribe().dispose()
    _ = Stamped(1, age: time, timeToLive: .after(time))
  }
}
