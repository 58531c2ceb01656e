import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Faults of the memory tier that concern time.
@Suite(.heavy) struct MemoryTimeFaultTests {
  static let nothing: [Duration] = [
    .zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1), Duration.zero - .nanoseconds(1),
  ]

  @Test(arguments: nothing)
  func `a time to live of zero or less expires the value at once`(time: Duration) {
    let clock = ManualClock()
    let caches = [
      MemoryCache<Int, Int>(countLimit: 5, timeToLive: .after(time), clock: clock),
      MemoryCache<Int, Int>(countLimit: 5, timeToIdle: .after(time), clock: clock),
      MemoryCache<Int, Int>(countLimit: 5, timeToLive: .after(time), jitter: 0.5, clock: clock),
    ]

    for cache in caches {
      cache.set(1, for: 1)
      _ = cache.apply(.fill(2, Stamped(1, age: .seconds(1)), FillToken()))
      #expect(cache.now(1, Lookup()) == nil && cache.now(2, Lookup()) == nil && cache.count == 0)
    }
  }

  @Test(arguments: nothing)
  func `a set with a time to live of zero or less removes the former value`(time: Duration) {
    let cache = MemoryCache<Int, Int>(countLimit: 5, clock: ManualClock())
    cache.set(1, for: 1)

    cache.set(2, for: 1, timeToLive: .after(time))

    #expect(cache.peek(1) == nil && cache.count == 0)
  }

  @Test(arguments: [
    TimeToLive.forever, .after(.seconds(Int64.max)), .after(.nanoseconds(Int64.max)),
    .after(.seconds(1e18)),
  ])
  func `a time to live of never, or beyond the clock's range, does not expire`(time: TimeToLive) {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 5, timeToLive: time, timeToIdle: time, clock: clock)
    clock.advance(by: .seconds(10))
    cache.set(1, for: 1)
    cache.set(2, for: 2, timeToLive: time)

    clock.advance(by: .seconds(200 * 365 * 86_400))

    #expect(cache.now(1, Lookup()) == 1 && cache.now(2, Lookup()) == 2)
  }

  @Test func `a time to idle runs from the last use`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 5, timeToIdle: .after(.seconds(10)), clock: clock)
    cache.set(1, for: 1)

    for _ in 0..<5 {
      clock.advance(by: .seconds(9))
      #expect(cache.now(1, Lookup()) == 1)
    }
    clock.advance(by: .seconds(9))
    #expect(cache.peek(1) == 1)
    clock.advance(by: .seconds(1))

    #expect(cache.now(1, Lookup()) == nil && cache.statistics.expirations == 1)
  }

  @Test func `a time to live runs from the value's birth, not from its fill`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 5, timeToLive: .after(.seconds(10)), clock: clock)
    _ = cache.apply(.fill(1, Stamped(1, age: .seconds(4)), FillToken()))

    clock.advance(by: .seconds(6) - .nanoseconds(1))
    #expect(cache.now(1, Lookup()) == 1)
    clock.advance(by: .nanoseconds(1))

    #expect(cache.now(1, Lookup()) == nil)
  }

  /// A clock that a user can set, as the one on the wall.
  struct WallClock: Clock {
    typealias Instant = ManualClock.Instant

    let time = Locked(Duration.seconds(86_400))
    var now: Instant { Instant(offset: time.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
  }

  @Test func `only the cache's own clock ages its values`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 5, timeToLive: .after(.nanoseconds(1)), clock: clock)
    cache.set(1, for: 1)
    for _ in 0..<1_000 { #expect(cache.now(1, Lookup()) == 1) }

    clock.advance(by: .nanoseconds(1))

    #expect(cache.now(1, Lookup()) == nil)
  }

  @Test(arguments: [Duration.seconds(-3_600), .seconds(-30 * 86_400)])
  func `a clock that is set back keeps the values, and nothing traps`(change: Duration) {
    let clock = WallClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 5, timeToLive: .after(.seconds(10)), timeToIdle: .after(.seconds(10)),
      clock: clock)
    clock.time.withLock { $0 += .seconds(7_200) }
    cache.set(1, for: 1)

    clock.time.withLock { $0 += change }
    #expect(cache.now(1, Lookup()) == 1)
    cache.set(2, for: 2)
    clock.time.withLock { $0 = .seconds(366 * 86_400) }

    #expect(cache.now(1, Lookup()) == nil && cache.now(2, Lookup()) == nil)
  }

  @Test(arguments: [Duration.seconds(5), .seconds(50), .seconds(30 * 86_400)])
  func `a clock that is set back makes no value last longer than its time`(step: Duration) {
    let clock = ManualClock()
    let caches = [
      MemoryCache<Int, Int>(countLimit: 5, timeToLive: .after(.seconds(10)), clock: clock),
      MemoryCache<Int, Int>(countLimit: 5, timeToIdle: .after(.seconds(10)), clock: clock),
    ]
    clock.advance(by: .seconds(7_200))
    for cache in caches { cache.set(1, for: 1) }

    clock.step(by: .zero - step)
    for cache in caches { #expect(cache.peek(1) == 1) }
    clock.advance(by: .seconds(9))
    for cache in caches { #expect(cache.peek(1) == 1) }
    clock.advance(by: .seconds(1))

    for cache in caches { #expect(cache.now(1, Lookup()) == nil) }
  }
}
