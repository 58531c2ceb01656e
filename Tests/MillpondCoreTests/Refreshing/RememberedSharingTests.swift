import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// One fetch for all gets of a key, whatever their terms.
@Suite struct RememberedSharingTests {
  @Test func `a get that names an age and takes a stale value at once starts one fetch`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))

    let get = scene.get(freshness: .atMost(.seconds(5)), stale: .atOnce)

    #expect(get.values == [1])
    #expect(scene.origin.activeRuns == 1)
  }

  @Test(arguments: [5, 11])
  func `after a stale value the new one is fetched for a get that takes one value`(age: Int) {
    let scene = RememberedScene(.ten(), age: .seconds(age))

    let get = Recorder<Int>().subscribe(
      to: scene.users.get("a", freshness: .atMost(.seconds(3)), stale: .atOnce).take(1))

    #expect(get.transcript == ["next 1", "completed"])
    #expect(scene.origin.activeRuns == 1)
    scene.answer(2)
    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a reload that takes a stale value at once is one fetch, which goes on`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    let get = scene.get(freshness: .reload, stale: .atOnce)

    #expect(get.values == [1])
    #expect(scene.origin.activeRuns == 1)
    get.dispose()
    #expect(scene.origin.activeRuns == 1)
    scene.answer(2)
    #expect(scene.get().values == [2])
  }

  @Test func `gets that ask for different ages wait for one fetch`() {
    let scene = RememberedScene(.ten())
    let gets: [Recorder<Int>] = [
      scene.get(), scene.get(freshness: .atMost(.seconds(5))),
      scene.get(freshness: .atMost(.seconds(4)), stale: .atOnce),
      scene.get(freshness: .atMost(.zero)),
    ]
    #expect(scene.fetches.count == 1)

    scene.answer(7)

    #expect(gets.allSatisfy { $0.transcript == ["next 7", "completed"] })
    #expect(scene.fetches.count == 1)
  }

  /// Starts a get that waits for another's reload of a stored value, which is not available at
  /// once.
  private func joinReload(
    of age: Duration, _ policy: FreshnessPolicy = .ten(), end: (TestSource<Int>) -> Void
  ) -> [String] {
    let (kept, origin) = (TestCache<String, Int>(), TestOrigin<String, Int>())
    _ = kept.apply(.fill("a", Stamped(1, age: age), .any))
    let users = origin.remembered(in: kept, policy, clock: ManualClock())
    Recorder<Int>().subscribe(to: users.get("a", freshness: .reload))
    let get = Recorder<Int>().subscribe(to: users.get("a"))
    end(origin["a"])
    #expect(origin["a"].subscriptions == 1)
    return get.transcript
  }

  @Test
  func `a get that waits for a reload without an answer gets the stored value if it is fresh`() {
    #expect(joinReload(of: .seconds(5)) { $0.completed() } == ["next 1", "completed"])
    #expect(joinReload(of: .seconds(5)) { $0.failed(Refused()) } == ["next 1", "completed"])
    #expect(joinReload(of: .seconds(11)) { $0.completed() } == ["completed"])
    let answered = joinReload(of: .seconds(5)) {
      $0.next(2)
      $0.completed()
    }
    #expect(answered == ["next 2", "completed"])
  }

  @Test func `a get that waits for a reload that fails gets what may stand in`() {
    #expect(joinReload(of: .seconds(11)) { $0.failed(Offline()) } == ["next 1", "completed"])
    #expect(
      joinReload(of: .seconds(11), .ten(stale: .never)) { $0.failed(Offline()) }.count == 1)
    #expect(joinReload(of: .seconds(11)) { $0.failed(Refused()) }.count == 1)
    #expect(
      joinReload(of: .seconds(11), .ten(usableFor: .after(.seconds(11)))) { $0.failed(Offline()) }
        .count == 1)
  }

  @Test func `a get for which the shared fetch brought too old a value asks again, once`() {
    let origin = AgingOrigin()
    let users = origin.remembered(
      in: MemoryCache(countLimit: 10, clock: origin.clock), .ten(), clock: origin.clock)
    let usual = Recorder<Int>().subscribe(to: users.get("a"))
    let strict = Recorder<Int>().subscribe(to: users.get("a", freshness: .atMost(.seconds(3))))

    origin.answer(1, age: .seconds(8))
    #expect(usual.transcript == ["next 1", "completed"])
    #expect(strict.transcript == [])
    #expect(origin.lookups.count == 2)
    #expect(origin.lookups.last == .atMost(.seconds(3)))
    origin.answer(2, age: .seconds(4))

    #expect(strict.transcript == ["next 2", "completed"])
    #expect(origin.lookups.count == 2)
  }

  @Test func `gets that wait share what comes, also when the clock is set back meanwhile`() {
    let origin = AgingOrigin()
    let users = origin.remembered(
      in: MemoryCache(countLimit: 10, clock: origin.clock), .ten(), clock: origin.clock)
    let gets = (0..<2).map { _ in
      Recorder<Int>().subscribe(to: users.get("a", freshness: .atMost(.seconds(3))))
    }

    origin.clock.step(by: .seconds(-7))
    origin.answer(1, age: .seconds(8))

    #expect(gets.allSatisfy { $0.transcript == ["next 1", "completed"] })
    #expect(origin.lookups.count == 1)
  }

  @Test func `a get for which a kept value is fresh enough leaves the fetch of a stricter one`() {
    let scene = RememberedScene(.ten(), age: .seconds(5))
    let strict = scene.get(freshness: .atMost(.seconds(3)))

    let usual = Recorder<Int>().subscribe(to: scene.users.get("a", Lookup()))

    #expect(usual.transcript == ["next 1", "completed"])
    #expect(scene.origin.activeRuns == 1)
    strict.dispose()
    #expect(scene.origin.activeRuns == 0)
  }

  @Test func `a value that a flight brought long ago is not fresh for a get that joins now`() {
    let scene = RememberedScene(.ten(usableFor: .after(.seconds(60))))
    let first = scene.get()
    scene.origin["a"].next(1)
    scene.clock.advance(by: .seconds(100))
    scene.memory.remove("a")

    let late = scene.get()
    #expect(late.values.isEmpty)
    scene.origin["a"].next(2)

    #expect(first.values == [1, 2])
    #expect(late.values == [2])
  }

  @Test func `a get that joins a refresh receives the stale value at once all the same`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    scene.users.refresh("a")

    let get = scene.get(stale: .atOnce)

    #expect(get.values == [1])
    #expect(scene.origin.activeRuns == 1)
    scene.answer(2)
    #expect(get.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `a get that joins a fetch ahead of time has the stale value to fall back on`() {
    let scene = RememberedScene(.ten(refreshAhead: .seconds(2)), age: .seconds(9))
    #expect(scene.get().values == [1])
    scene.clock.advance(by: .seconds(3))
    let late = scene.get()
    #expect(late.values.isEmpty)

    scene.fail(Offline())

    #expect(late.transcript == ["next 1", "completed"])
  }
}

/// An origin whose answers, of ages that a test names, are held back.
private final class AgingOrigin: AnsweringSource {
  let clock = ManualClock()
  private let source = TestSource<Stamped<Int>>()
  private let asked = Locked<[Freshness]>([])

  var lookups: [Freshness] { asked.withLock { $0 } }

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    .deferred { [asked, source] in
      asked.withLock { $0.append(lookup.freshness) }
      return source.signal.map { .value($0) }
    }
  }

  func answer(_ value: Int, age: Duration) {
    let runs = source.runs.filter(\.isActive)
    for run in runs {
      run.next(Stamped(value, age: age))
      run.completed()
    }
  }
}
