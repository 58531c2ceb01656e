import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@testable import MillpondCore

/// Values that a caller declares stale, whatever their age.
@Suite struct StaleMarksTests {
  @Test func `a marked value is fetched by the next get, and by no further one`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    scene.users.markStale("a")
    #expect(scene.fetches.count == 1)
    let caller = scene.get()
    scene.answer(2)

    #expect(caller.values == [2])
    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a mark of one key leaves the others fresh`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    scene.users.markStale("b")

    #expect(scene.get().values == [1])
    #expect(scene.fetches.count == 1)
  }

  @Test func `a marked value stands in when the origin cannot be reached, and stays marked`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.markStale("a")

    let offline = scene.get()
    scene.fail(Offline())
    let next = scene.get()
    scene.answer(2)

    #expect(offline.values == [1])
    #expect(next.values == [2])
  }

  @Test func `a marked value that nothing may replace is a failure`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.markStale("a")

    let caller = scene.get()
    scene.fail(Refused())

    #expect(caller.values.isEmpty)
    #expect(caller.failure is Refused)
  }

  @Test func `a set after the mark is fresh`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    scene.users.markStale("a")
    scene.users.set(5, for: "a")

    #expect(scene.get().values == [5])
    #expect(scene.fetches.count == 1)
  }

  @Test(arguments: [true, false])
  func `a fetch from before the mark is not fresh when it arrives`(all: Bool) {
    let scene = RememberedScene(.ten())
    let first = scene.get()
    if all { scene.users.markAllStale() } else { scene.users.markStale("a") }
    scene.clock.advance(by: .seconds(1))

    scene.answer(1)
    let later = scene.get()
    scene.answer(2)

    #expect(first.values == [1])
    #expect(later.values == [2])
    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test(arguments: [true, false])
  func `a get after the mark that joins an older fetch waits for a newer one`(all: Bool) {
    let scene = RememberedScene(.ten())
    let first = scene.get()
    if all { scene.users.markAllStale() } else { scene.users.markStale("a") }

    let later = [scene.get(), scene.get()]
    scene.answer(0, 1)
    #expect(later.allSatisfy { $0.values.isEmpty && $0.end == nil })
    scene.answer(1, 2)

    #expect(first.values == [1])
    #expect(later.allSatisfy { $0.transcript == ["next 2", "completed"] })
    #expect(scene.fetches.count == 2)
  }

  @Test func `a stale value that is sent at once is followed by a new one after a mark`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(1))
    scene.users.markStale("a")

    let caller = scene.get()
    scene.answer(2)

    #expect(caller.values == [1, 2])
  }

  @Test func `a mark asks nothing and answers gets that want stored values only`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.markStale("a")

    #expect(scene.get(freshness: .cachedOnly).values == [1])
    #expect(scene.fetches.count == 1)
  }

  @Test func `a get with an age of its own fetches a marked value too`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.markStale("a")

    let caller = scene.get(freshness: .atMost(.seconds(100)))
    scene.answer(2)

    #expect(caller.values == [2])
  }

  @Test func `beyond the number of marks that are noted every value is stale`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    for number in 0...4_096 { scene.users.markStale("\(number)") }
    let caller = scene.get()
    scene.answer(2)

    #expect(caller.values == [2])
    #expect(scene.get().values == [2])
  }

  @Test func `a mark of all values outlives the answers of more older fetches than are noted`() {
    let (clock, origin) = (ManualClock(), TestOrigin<Int, Int>())
    let users = origin.remembered(
      in: MemoryCache<Int, Int>(countLimit: 10_000, clock: clock), .ten(), clock: clock)
    let callers = (0...4_096).map { Recorder().subscribe(to: users.get($0)) }
    users.markAllStale()
    clock.advance(by: .seconds(1))

    for key in 0...4_096 {
      origin[key].next(1)
      origin[key].completed()
    }
    clock.advance(by: .seconds(1))
    users.get(1).subscribe()

    #expect(callers.allSatisfy { $0.values == [1] })
    #expect(origin[1].subscriptions == 2)
  }

  @Test func `an older fetch that ends beyond the number of noted marks leaves all of them`() throws
  {
    var marks = StaleMarks<String>(lag: .zero, limit: 2)
    let before = Revision.next()
    _ = marks.markAll(.next(), at: .seconds(1))
    for key in ["a", "b"] {
      _ = marks.renew(key, asked: .next(), age: nil, at: .seconds(2))
      _ = marks.mark(key, .next(), at: .seconds(3))
    }

    _ = marks.renew("c", asked: before, age: nil, at: .seconds(4))

    for key in ["a", "b", "c"] {
      let unmarked = try #require(marks.greatestUnmarkedAge(key, at: .seconds(4)))
      #expect(unmarked < .zero)
    }
  }

  @Test func `a mark is dropped when its key has a newer value, and not before`() {
    var marks = StaleMarks<String>(lag: .zero)
    let (before, mark, after) = (Revision.next(), Revision.next(), Revision.next())
    _ = marks.mark("a", mark, at: .seconds(5))

    let early = marks.renew("a", asked: before, age: .zero, at: .seconds(6))
    let old = marks.renew("a", asked: after, age: .seconds(1), at: .seconds(6))
    #expect(early.keys.isEmpty && old.keys.isEmpty)
    #expect(marks.hasMark("a", after: before))

    let newer = marks.renew("a", asked: after, age: .zero, at: .seconds(6))
    #expect(newer.keys == ["a"])
    #expect(marks.isEmpty)
  }

  @Test func `no hit is asked about a mark once all older values are stale by their ages`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let ages = scene.users.inside.ages
    scene.users.markAllStale()

    scene.clock.advance(by: .seconds(10))
    scene.users.set(2, for: "a")
    #expect(ages.rule.load(ordering: .acquiring) != .none)
    #expect(scene.get().values == [2])
    #expect(ages.rule.load(ordering: .acquiring) == .none)

    #expect(scene.get().values == [2])
    scene.clock.advance(by: .seconds(10))
    scene.get().dispose()
    #expect(scene.fetches.count == 2)
  }

  @Test func `a mark of all values takes no lock for a hit where values are fresh for ever`() {
    let scene = RememberedScene(FreshnessPolicy(), age: .seconds(1))
    scene.clock.advance(by: .seconds(1))
    scene.users.markAllStale()

    scene.clock.advance(by: .seconds(1))
    let caller = scene.get()
    scene.answer(2)
    scene.clock.advance(by: .seconds(100))

    #expect(caller.values == [2] && scene.get().values == [2])
    #expect(scene.fetches.count == 2)
    #expect(scene.users.inside.ages.rule.load(ordering: .acquiring) == .since(.seconds(2)))
  }

  @Test func `a key that is fetched at the time of the mark is hit without a lock in the end`() {
    let scene = RememberedScene(.ten())
    let ages = scene.users.inside.ages
    scene.users.markAllStale()
    scene.users.set(1, for: "a")
    #expect(scene.get().values == [1])
    #expect(ages.rule.load(ordering: .acquiring) == .byKey)

    scene.clock.advance(by: .seconds(11))
    scene.get().dispose()

    #expect(ages.rule.load(ordering: .acquiring) == .none)
  }

  @Test func `a fetch from before a mark is not fresh though stored values have outlived the mark`()
  {
    let scene = RememberedScene(.ten())
    let first = scene.get()
    scene.users.markAllStale()
    scene.clock.advance(by: .seconds(20))
    scene.users.get("b").subscribe()
    #expect(scene.users.inside.ages.rule.load(ordering: .acquiring) == .none)

    scene.answer(1)
    let later = scene.get()
    scene.answer(2)

    #expect(first.values == [1] && later.values == [2])
  }

  @Test func `another time to live leaves a value marked stale`() {
    let scene = RememberedScene(FreshnessPolicy(freshFor: .after(.seconds(100))))
    scene.users.set(1, for: "a")
    scene.users.markStale("a")

    scene.users.setTimeToLive(.after(.seconds(60)), for: "a")
    _ = scene.get()

    #expect(scene.fetches.count == 1)
  }
}
