import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RememberedTests {
  @Test func `a fetched value answers without a request for as long as it is fresh`() {
    let scene = RememberedScene(.ten(), age: .seconds(9))

    let caller = scene.get()

    #expect(caller.values == [1])
    #expect(caller.isCompleted)
    #expect(scene.fetches.count == 1)
  }

  @Test(arguments: [(Duration.nanoseconds(9_999_999_999), 1), (.seconds(10), 2), (.seconds(11), 2)])
  func `a value is no longer fresh once it reaches its time to live`(age: Duration, fetches: Int) {
    let scene = RememberedScene(.ten(), age: age)

    _ = scene.get()

    #expect(scene.fetches.count == fetches)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `a value that is fresh for no time is fetched at each get`(duration: Duration) {
    let scene = RememberedScene(FreshnessPolicy(freshFor: .after(duration)), age: .zero)

    let caller = scene.get()
    scene.answer(2)

    #expect(caller.values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test(arguments: [TimeToLive.forever, .after(.seconds(Int64.max))])
  func `a value that stays fresh for ever is fetched once`(life: TimeToLive) {
    let scene = RememberedScene(FreshnessPolicy(freshFor: life), age: .seconds(1_000_000_000))

    #expect(scene.get().values == [1])
    #expect(scene.fetches.count == 1)
  }

  @Test func `all callers that come meanwhile share one fetch`() {
    let scene = RememberedScene(.ten())
    let callers = (0..<100).map { _ in scene.get() }

    scene.answer(7)

    #expect(callers.allSatisfy { $0.values == [7] && $0.isCompleted })
    #expect(scene.fetches.count == 1)
  }

  @Test func `the last caller that leaves cancels a fetch`() {
    let scene = RememberedScene(.ten())
    let callers = [scene.get(), scene.get()]

    callers[0].dispose()
    #expect(scene.origin.activeRuns == 1)
    callers[1].dispose()
    #expect(scene.origin.activeRuns == 0)
  }

  @Test func `a get with a greatest age fetches when the stored value is older`() {
    let scene = RememberedScene(.ten(), age: .seconds(5))

    #expect(scene.get(freshness: .atMost(.seconds(6))).values == [1])
    #expect(scene.fetches.count == 1)
    _ = scene.get(freshness: .atMost(.seconds(4)))
    #expect(scene.fetches.count == 2)
  }

  @Test func `a caller that allows more than the policy gets no more than that`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))

    let caller = scene.get(freshness: .atMost(.seconds(60)))

    #expect(caller.values.isEmpty)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a get of stored values only gets them however old, and asks no source`() {
    let scene = RememberedScene(.ten(), age: .seconds(1_000))

    let caller = scene.get(freshness: .cachedOnly)

    #expect(caller.values == [1])
    #expect(scene.fetches.count == 1)
  }

  @Test
  func
    `a value that is not usable any more is not kept even for callers that want stored values only`()
  {
    let scene = RememberedScene(.ten(usableFor: .after(.seconds(60))), age: .seconds(60))

    let caller = scene.get(freshness: .cachedOnly)

    #expect(caller.values.isEmpty)
    #expect(caller.isCompleted)
  }

  @Test func `a miss of the origin is a miss, and keeps what there was`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get()

    scene.origin["a"].completed()

    #expect(caller.values.isEmpty)
    #expect(caller.isCompleted)
    #expect(scene.memory.peek("a") == 1)
  }

  @Test func `a value that is old on arrival is fresh for the rest of its time only`() {
    let scene = RememberedScene(.ten())
    let aged = AgedOrigin(age: .seconds(8))
    let users = aged.remembered(in: scene.memory, .ten(), clock: scene.clock)
    let first = Recorder<Int>().subscribe(to: users.get("a"))

    scene.clock.advance(by: .seconds(1))
    let second = Recorder<Int>().subscribe(to: users.get("a"))
    scene.clock.advance(by: .seconds(1))
    let third = Recorder<Int>().subscribe(to: users.get("a"))

    #expect(first.values + second.values + third.values == [1, 1, 2])
  }

  @Test func `all stored values can be marked stale`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    scene.users.markAllStale()
    scene.clock.advance(by: .seconds(1))
    let caller = scene.get()
    scene.answer(2)
    scene.clock.advance(by: .seconds(1))
    let later = scene.get()

    #expect(caller.values == [2])
    #expect(later.values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `if the store fails the origin is asked`() {
    let store = TestCache<String, Int>()
    store.failGets(of: "a", with: Refused())
    let origin = TestOrigin<String, Int>()
    let caller = Recorder<Int>().subscribe(to: origin.remembered(in: store, .ten()).get("a"))

    origin["a"].next(3)
    origin["a"].completed()

    #expect(caller.values == [3])
    #expect(caller.isCompleted)
  }

  @Test func `if the store fails and the origin has no value the store's failure passes`() {
    let store = TestCache<String, Int>()
    store.failGets(of: "a", with: Refused())
    let origin = TestOrigin<String, Int>()
    let caller = Recorder<Int>().subscribe(to: origin.remembered(in: store, .ten()).get("a"))

    origin["a"].completed()

    #expect(caller.failure is Refused)
  }

  @Test func `keys of one life are not all fetched at one time`() {
    let clock = ManualClock()
    let origin = TestOrigin<Int, Int>()
    let policy = FreshnessPolicy(freshFor: .after(.seconds(100)), jitter: 0.5)
    let users = origin.remembered(
      in: MemoryCache(countLimit: 1_000, clock: clock), policy, clock: clock)
    for key in 0..<100 { users.set(key, for: key) }

    clock.advance(by: .seconds(49))
    let fresh = (0..<100).count { users.now($0, Lookup()) != nil }
    clock.advance(by: .seconds(26))
    let half = (0..<100).count { users.now($0, Lookup()) != nil }
    clock.advance(by: .seconds(25))
    let none = (0..<100).count { users.now($0, Lookup()) != nil }

    #expect(fresh == 100)
    #expect((20...80).contains(half))
    #expect(none == 0)
  }

  @Test func `a cached nil is a hit`() {
    let origin = TestOrigin<String, Int?>()
    let users = origin.remembered(in: MemoryCache(countLimit: 10), .ten())
    let first = Recorder<Int?>().subscribe(to: users.get("a"))
    origin["a"].next(nil)
    origin["a"].completed()

    let second = Recorder<Int?>().subscribe(to: users.get("a"))

    #expect(first.values == [nil])
    #expect(second.values == [nil])
    #expect(origin["a"].subscriptions == 1)
  }
}

/// An origin whose answers are old already, and count up.
private final class AgedOrigin: AnsweringSource {
  private let count = Locked(0)
  private let age: Duration

  init(age: Duration) {
    self.age = age
  }

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    .deferred { [count, age] in
      let value = count.withLock { count in
        count += 1
        return count
      }
      return .just(.value(Stamped(value, age: age)))
    }
  }
}
