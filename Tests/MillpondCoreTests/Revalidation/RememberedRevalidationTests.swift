import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct RememberedRevalidationTests {
  let clock = ManualClock()
  let origin = VersionedOrigin()
  let memory: MemoryCache<String, Int>

  init() {
    memory = MemoryCache(countLimit: 10, clock: clock)
  }

  private func users(
    _ policy: FreshnessPolicy = .ten()
  ) -> Remembered<MemoryCache<String, Int>, FunctionSource<String, Int>> {
    origin.source.remembered(in: memory, policy, clock: clock)
  }

  @Test func `a stale value is asked about, and is fresh again if it did not change`() {
    let users = users()
    _ = users.ask()
    clock.advance(by: .seconds(11))
    let gone = Recorder<Removal<String, Int>>().subscribe(to: memory.removals)

    let asked = users.ask()
    clock.advance(by: .seconds(9))
    let fresh = users.ask()

    #expect(asked.values.map(\.value) == [1] && asked.values.map(\.age) == [.zero])
    #expect(asked.isCompleted)
    #expect(fresh.values.map(\.age) == [.seconds(9)])
    #expect(origin.asked == [nil, "1"])
    #expect(gone.events.isEmpty)
  }

  @Test func `a value that changed replaces the stale one`() {
    let users = users()
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.version = 2

    #expect(users.ask().values.map(\.value) == [2])
    #expect(memory.peek("a") == 2)
  }

  @Test func `many callers share one question`() {
    let users = users()
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.hold()

    let callers = (0..<50).map { _ in users.ask() }
    origin.answer()

    #expect(origin.asked == [nil, "1"])
    #expect(callers.allSatisfy { $0.values.map(\.value) == [1] && $0.isCompleted })
  }

  @Test func `a caller that takes the stale value gets the confirmed one after it`() {
    let users = users(.ten(stale: .atOnce))
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.hold()

    let asked = users.ask()
    #expect(asked.values.map(\.age) == [.seconds(11)])
    origin.answer()

    #expect(asked.values.map(\.age) == [.seconds(11), .zero])
    #expect(asked.isCompleted)
  }

  @Test func `a value that was marked stale is asked about, and then fresh`() {
    let users = users()
    _ = users.ask()
    users.markStale("a")

    #expect(users.ask().values.map(\.value) == [1])
    _ = users.ask()

    #expect(origin.asked == [nil, "1"])
  }

  @Test func `a value whose own time to live is over is asked about`() {
    let users = users(FreshnessPolicy(freshFor: .forever))
    origin.timeToLive = .after(.seconds(5))
    _ = users.ask()
    clock.advance(by: .seconds(6))
    origin.timeToLive = nil

    #expect(users.ask().values.map(\.value) == [1])
    #expect(users.ask().values.map(\.timeToLive) == [nil])
    #expect(origin.asked == [nil, "1"])
  }

  @Test func `a reload and a refresh ask about the stored value`() {
    let users = users()
    _ = users.ask()

    let reloaded = users.ask(Lookup(freshness: .reload))
    let refreshed = Recorder<Int>().subscribe(to: users.refresh("a"))

    #expect(reloaded.values.map(\.value) == [1] && refreshed.values == [1])
    #expect(origin.asked == [nil, "1", "1"])
  }

  @Test func `a reload brings a version that changed`() {
    let users = users()
    _ = users.ask()
    origin.version = 2

    #expect(users.ask(Lookup(freshness: .reload)).values.map(\.value) == [2])
    #expect(users.ask().values.map(\.value) == [2])
    #expect(origin.asked == [nil, "1"])
  }

  @Test func `a set during the question wins`() {
    let users = users()
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.hold()
    let asked = users.ask()

    memory.set(5, for: "a")
    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(memory.peek("a") == 5)
  }

  @Test func `a value removed during its validation stays removed`() {
    let users = users()
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.hold()
    let asked = users.ask()

    users.removeAll()
    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(memory.count == 0)
  }

  @Test func `a stale value stands in for a question that failed`() {
    let users = users(.ten(stale: .onAnyError))
    _ = users.ask()
    clock.advance(by: .seconds(11))
    origin.hold()
    let asked = users.ask()

    origin.answers.failed(Refused())

    #expect(asked.values.map(\.age) == [.seconds(11)])
  }

  @Test func `a layer above asks for a value, which is confirmed below`() {
    let upper = MemoryCache<String, Int>(countLimit: 1, clock: clock)
    let cache = upper.layered(over: users())
    _ = cache.ask()
    clock.advance(by: .seconds(11))

    let asked = cache.ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [1])
    #expect(origin.asked == [nil, "1"])
    #expect(upper.peekStamped("a")?.age == .zero)
  }

  @Test func `observers see the confirmed value as fresh`() {
    let users = users()
    let states = Recorder<ResourceState<Int>>().subscribe(to: users.observe("a"))
    _ = users.ask()
    clock.advance(by: .seconds(11))
    _ = users.ask()

    #expect(states.values.last?.value == 1)
    #expect(states.values.last?.age == .zero)
    #expect(states.values.last?.isLoading == false)
  }
}
