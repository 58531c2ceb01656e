import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The time to live of a single value, given by a caller or by the source with its answer.
@Suite struct ValueTimeToLiveTests {
  let clock = ManualClock()

  /// A source whose answers say how long they may be stored.
  struct Timed: AnsweringSource {
    let timeToLive: TimeToLive?
    let asked = Locked(0)

    func answers(_ key: Int, _ lookup: Lookup) -> Signal<Answer<Int>> {
      .deferred {
        asked.withLock { $0 += 1 }
        return .just(.value(Stamped(key, timeToLive: timeToLive)))
      }
    }

    var count: Int { asked.withLock { $0 } }
  }

  private func memory(_ timeToLive: TimeToLive = .forever) -> MemoryCache<Int, Int> {
    MemoryCache(countLimit: 100, timeToLive: timeToLive, clock: clock)
  }

  /// Whether the value is found, by each way of asking.
  private func finds(_ cache: some Cache<Int, Int>, _ key: Int) -> Bool {
    let now = cache.now(key, Lookup()) != nil
    let got = Recorder<Int>().subscribe(to: cache.get(key, Lookup(freshness: .cachedOnly))).values
    let stamped = Recorder<Stamped<Int>>().subscribe(
      to: cache.getStamped(key, Lookup(freshness: .cachedOnly)))
    #expect(got.isEmpty == stamped.values.isEmpty)
    #expect(!now || !got.isEmpty)
    return !got.isEmpty
  }

  static let compositions: [@Sendable (MemoryCache<Int, Int>) -> AnyCache<Int, Int>] = [
    { AnyCache($0) },
    { AnyCache(EmptyCache().layered(over: $0)) },
    { AnyCache($0.layered(over: EmptyCache()).reusingInFlight()) },
    { AnyCache($0.mapValues(.identity).mapKeys { $0 }) },
    { AnyCache($0.mapKeys { $0 + 1 }.filtered { _, _ in true }) },
    { AnyCache($0.limited(to: 1).retrying(.immediate(attempts: 2))) },
    { AnyCache($0.circuitBreaking(afterFailures: 1, for: .seconds(1)).named("memory")) },
    { AnyCache($0.monitored(by: CacheMonitor()).timingOut(after: .seconds(1))) },
    { AnyCache($0.switched(to: $0) { $0.isMultiple(of: 2) }) },
    { AnyCache($0.postProcessed { $1 }.scoped(to: CacheScope())) },
    { AnyCache($0.onMemoryPressure(.never).hedged(with: EmptyCache(), after: .seconds(1))) },
  ]

  @Test(arguments: compositions.indices)
  func `a value lives for its own time in every composition`(number: Int) {
    let cache = Self.compositions[number](memory(.after(.seconds(10))))
    cache.set(1, for: 1, timeToLive: .after(.seconds(60)))
    cache.set(2, for: 2)
    cache.set(3, for: 3, timeToLive: .forever)
    cache.set(4, for: 4, timeToLive: .after(.seconds(5)))

    clock.advance(by: .seconds(5))
    #expect((1...4).map { finds(cache, $0) } == [true, true, true, false])
    clock.advance(by: .seconds(54))
    #expect((1...4).map { finds(cache, $0) } == [true, false, true, false])
    clock.advance(by: .seconds(1))
    #expect((1...4).map { finds(cache, $0) } == [false, false, true, false])
  }

  @Test(arguments: compositions.indices)
  func `a stored value gets another time to live in every composition`(number: Int) {
    let cache = Self.compositions[number](memory())
    for key in 1...3 { cache.set(key, for: key, timeToLive: .after(.seconds(10))) }

    cache.setTimeToLive(.after(.seconds(60)), for: 1)
    cache.setTimeToLive(.forever, for: 2)
    cache.setTimeToLive(.after(.zero), for: 3)

    #expect((1...3).map { finds(cache, $0) } == [true, true, false])
    clock.advance(by: .seconds(59))
    #expect((1...2).map { finds(cache, $0) } == [true, true])
    clock.advance(by: .seconds(1))
    #expect((1...2).map { finds(cache, $0) } == [false, true])
  }

  @Test func `another time to live for an absent key does nothing, and says so`() {
    let cache = memory()
    let outcome = Recorder<Bool>().subscribe(
      to: cache.setTimeToLive(.after(.seconds(1)), for: 1))

    #expect(outcome.isCompleted && outcome.values == [false])
    #expect(cache.count == 0)
  }

  @Test func `a write during a change of the time to live wins`() {
    let held = HeldCache()
    held.set(1, for: 1)
    held.isHeld.withLock { $0 = true }
    let outcome = Recorder<Bool>().subscribe(
      to: held.setTimeToLive(.after(.seconds(9)), for: 1))
    held.set(2, for: 1)

    held.answer()

    #expect(outcome.isCompleted && outcome.values == [false])
    #expect(held.base.contents == [1: 2])
  }

  // MARK: By the source

  @Test func `an answer is stored for its own time, or the cache's if that is shorter`() {
    let source = Timed(timeToLive: .after(.seconds(10)))
    let lower = memory()
    let upper = memory(.after(.seconds(4)))
    let cache = upper.layered(over: lower.layered(over: source))
    #expect(Recorder<Int>().subscribe(to: cache.get(1)).values == [1])

    clock.advance(by: .seconds(3))
    #expect(upper.peek(1) == 1 && lower.peek(1) == 1)
    clock.advance(by: .seconds(1))
    #expect(upper.peek(1) == nil && lower.peek(1) == 1)
    clock.advance(by: .seconds(6))
    #expect(lower.peek(1) == nil)
    #expect(source.count == 1)
    #expect(Recorder<Int>().subscribe(to: cache.get(1)).values == [1])
    #expect(source.count == 2)
  }

  @Test func `a value that is filled up from below has only its rest left`() {
    let lower = memory()
    let upper = memory()
    let cache = upper.mapValues(.identity).layered(over: lower.mapKeys { $0 })
    lower.set(1, for: 1, timeToLive: .after(.seconds(10)))
    clock.advance(by: .seconds(7))

    let found = Recorder<Stamped<Int>>().subscribe(to: cache.getStamped(1, Lookup()))

    #expect(found.values.map(\.timeToLive) == [.after(.seconds(3))])
    #expect(found.values.map(\.age) == [.seconds(7)])
    clock.advance(by: .seconds(2))
    #expect(upper.peek(1) == 1)
    let again = Recorder<Stamped<Int>>().subscribe(to: cache.getStamped(1, Lookup()))
    #expect(again.values.map(\.timeToLive) == [.after(.seconds(1))])
    clock.advance(by: .seconds(1))
    #expect(upper.peek(1) == nil && lower.peek(1) == nil)
  }

  @Test func `the time to live of a cache is not that of its values elsewhere`() {
    let lower = memory(.after(.seconds(10)))
    let upper = memory()
    lower.set(1, for: 1)
    clock.advance(by: .seconds(7))
    let found = Recorder<Stamped<Int>>().subscribe(
      to: upper.layered(over: lower).getStamped(1, Lookup()))

    clock.advance(by: .seconds(100))

    #expect(found.values.map(\.timeToLive) == [nil])
    #expect(upper.peek(1) == 1)
  }

  @Test func `an answer that must not be stored is delivered, and replaces a stored one`() {
    let source = Timed(timeToLive: .after(.zero))
    let cache = memory()
    cache.set(9, for: 1)

    let answer = Recorder<Int>().subscribe(
      to: cache.layered(over: source).get(1, freshness: .reload))

    #expect(answer.values == [1])
    #expect(cache.peek(1) == nil)
  }

  @Test func `a later value without a time of its own does not inherit one`() {
    let cache = memory()
    cache.set(1, for: 1, timeToLive: .after(.seconds(1)))
    cache.set(2, for: 1)
    cache.set(1, for: 2, timeToLive: .after(.seconds(1)))
    _ = cache.apply(.fill(2, Stamped(2), FillToken()))

    clock.advance(by: .seconds(9))

    #expect(cache.peek(1) == 2 && cache.peek(2) == 2)
    let found = Recorder<Stamped<Int>>().subscribe(to: cache.getStamped(1, Lookup()))
    #expect(found.values.map(\.timeToLive) == [nil])
  }

  @Test func `joined gets and bulk gets store each answer for its own time`() {
    let source = Timed(timeToLive: .after(.seconds(10)))
    let store = memory()
    let cache = store.layered(over: source).reusingInFlight()
    let all = Recorder<[Result<Int, any Error>]>().subscribe(to: cache.get(all: [1, 2, 3]))
    #expect(all.values.first?.count == 3)

    clock.advance(by: .seconds(10))

    #expect((1...3).map { store.peek($0) } == [nil, nil, nil])
  }

  @Test func `a remembered value is stored for its own time`() {
    let source = Timed(timeToLive: .after(.seconds(10)))
    let cache = source.remembered(in: memory(), FreshnessPolicy(), clock: clock)
    for expected in [1, 1, 2] {
      #expect(Recorder<Int>().subscribe(to: cache.get(1)).values == [1])
      #expect(source.count == expected)
      clock.advance(by: .seconds(5))
    }
  }

  @Test func `a multiplexer stores a value for the time that its caller gives`() {
    let resource = Multiplexer<Int>(clock: clock, signal: { .just(7) })
    resource.set(1, timeToLive: .after(.seconds(10)))
    clock.advance(by: .seconds(9))
    #expect(Recorder<Int>().subscribe(to: resource.get()).values == [1])

    clock.advance(by: .seconds(1))

    #expect(Recorder<Int>().subscribe(to: resource.get()).values == [7])
  }

  @Test func `an entry of the dictionary of signals is stored for its own time`() {
    let cache = memory(.after(.seconds(60)))
    let source = TestSource<Int>()
    let entry = Recorder<Int>().subscribe(
      to: cache.signal(for: 1, timeToLive: .after(.seconds(10))) { source.signal })
    source.next(5)
    clock.advance(by: .seconds(4))
    source.completed()
    #expect(entry.values == [5])

    clock.advance(by: .seconds(5))
    #expect(cache.peek(1) == 5)
    // Counted from the arrival of the value.
    clock.advance(by: .seconds(1))
    #expect(cache.peek(1) == nil)
  }

  // MARK: While running

  @Test func `a changed time to live of a cache applies to later values`() {
    let cache = memory()
    cache.set(1, for: 1)
    cache.timeToLive = .after(.seconds(10))
    cache.set(2, for: 2)
    cache.timeToLive = .after(.seconds(20))
    _ = cache.apply(.fill(3, Stamped(3, age: .seconds(5)), FillToken()))
    #expect(cache.timeToLive == .after(.seconds(20)))

    clock.advance(by: .seconds(10))
    #expect((1...3).map { cache.peek($0) } == [1, nil, 3])
    #expect((1...3).map { cache.now($0, Lookup()) } == [1, nil, 3])
    clock.advance(by: .seconds(5))
    #expect((1...3).map { cache.peek($0) } == [1, nil, nil])

    cache.timeToLive = .forever
    cache.set(4, for: 4)
    clock.advance(by: .seconds(1_000_000))
    #expect(cache.peek(4) == 4 && cache.timeToLive == .forever)
  }

  // MARK: Odd times

  @Test func `a time until an instant is what is left of it`() {
    let end = clock.now.advanced(by: .seconds(10))
    clock.advance(by: .seconds(4))
    #expect(TimeToLive.until(end, of: clock) == .after(.seconds(6)))
    let cache = memory()
    cache.set(1, for: 1, timeToLive: .until(end, of: clock))
    cache.set(2, for: 2)
    clock.advance(by: .seconds(6))
    #expect(cache.peek(1) == nil)

    cache.set(3, for: 2, timeToLive: .until(end, of: clock))
    #expect(cache.peek(2) == nil)
  }

  @Test(arguments: [
    Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1), .seconds(1 << 40),
    .seconds(Int64.max), .nanoseconds(Int64.max), .nanoseconds(Int64.max - 1),
  ])
  func `no time to live traps, and one that is over stores nothing`(time: Duration) {
    for own in [TimeToLive.after(time), .forever] {
      let (upper, lower) = (memory(), memory(.after(time)))
      let cache = upper.layered(over: lower)
      cache.set(1, for: 1)
      cache.set(2, for: 1, timeToLive: own)
      #expect(upper.peek(1) == (own.isOverAtOnce ? nil : 2))
      #expect(lower.peek(1) == (own.isOverAtOnce ? nil : 2))
      cache.setTimeToLive(own, for: 1)
      _ = upper.apply(.fill(2, Stamped(1, age: time, timeToLive: own), FillToken()))
      #expect(upper.peek(2) == (own.isOverAtOnce ? nil : 1))
      clock.step(by: .seconds(1))
      _ = Recorder<Int>().subscribe(to: cache.get(1))
    }
  }

  @Test func `a clock that steps back prolongs no value's own time`() {
    let cache = memory()
    cache.set(1, for: 1, timeToLive: .after(.seconds(10)))
    clock.advance(by: .seconds(6))
    #expect(cache.peek(1) == 1)
    clock.step(by: .seconds(-1_000))

    let found = Recorder<Stamped<Int>>().subscribe(to: cache.getStamped(1, Lookup()))

    #expect(found.values.map(\.timeToLive) == [.after(.seconds(4))])
    clock.advance(by: .seconds(4))
    #expect(cache.peek(1) == nil)
  }

  @Test func `values keep their own times when a large cache is divided and sheds others`() {
    let cache = MemoryCache<Int, Int>(countLimit: 20_000, clock: clock)
    for key in 0..<10_000 {
      cache.set(key, for: key, timeToLive: .after(.seconds(key.isMultiple(of: 2) ? 10 : 100)))
    }
    for key in 0..<5_000 { cache.remove(key) }
    clock.advance(by: .seconds(10))

    for key in 5_000..<10_000 {
      let found = Recorder<Stamped<Int>>().subscribe(to: cache.getStamped(key, Lookup()))
      let left: [TimeToLive?] = key.isMultiple(of: 2) ? [] : [.after(.seconds(90))]
      guard found.values.map(\.timeToLive) == left else {
        Issue.record("\(key): \(found.values)")
        return
      }
    }
  }

  /// A cache whose lookups wait.
  final class HeldCache: Cache, AnsweringSource {
    let base = TestCache<Int, Int>()
    let isHeld = Locked(false)
    private let waiting = Locked<[@Sendable () -> Void]>([])

    func answers(_ key: Int, _ lookup: Lookup) -> Signal<Answer<Int>> {
      Signal { observer, lifetime in
        let run: @Sendable () -> Void = {
          self.base.answers(key, lookup).run(observer, lifetime)
        }
        if self.isHeld.withLock({ $0 }) { self.waiting.withLock { $0.append(run) } } else { run() }
      }
    }

    func apply(_ change: Change<Int, Int>) -> Signal<Void> { base.apply(change) }

    func answer() { for run in waiting.withLock({ $0 }) { run() } }
  }

  @Test func `another time to live does not change what is stored below a wrapper`() {
    let base = MemoryCache<Int, Int>(countLimit: 4)
    let cache = base.postProcessed { $1 * 10 }
    cache.set(1, for: 1)

    cache.setTimeToLive(.after(.seconds(60)), for: 1)
    cache.setTimeToLive(.after(.seconds(90)), for: 1)

    #expect(base.peek(1) == 1)
    #expect(cache.now(1) == 10)
  }
}
