import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Gets with a function of their own, gets ahead of time, and questions whether there is a value.
@Suite struct GetOrFetchTests {
  struct Trouble: Error {}

  private let calls = Locked(0)

  private func fetch() -> Int {
    calls.withLock { $0 += 1 }
    return 7
  }

  @Test func `what a get fetches for itself is stored, and the next one finds it`() async throws {
    let lower = TestCache<String, Int>()
    let cache = MemoryCache<String, Int>(countLimit: 9).layered(over: lower)

    #expect(try await cache.get("a") { fetch() }.value == 7)
    #expect(try await cache.get("a") { fetch() }.value == 7)

    #expect(calls.withLock { $0 } == 1)
    #expect(lower.contents == ["a": 7])
  }

  @Test func `a failure of the function fails the get, and stores nothing`() async throws {
    let cache = TestCache<String, Int>()

    await #expect(throws: Trouble.self) { try await cache.get("a") { throw Trouble() }.value }
    #expect(cache.contents == [:])
  }

  @Test func `calls that come together fetch once in memory`() async throws {
    let cache = MemoryCache<String, Int>(countLimit: 9)
    let (gate, open) = AsyncStream<Void>.makeStream()
    let gets = (0..<20).map { _ in
      cache.get("a") {
        for await _ in gate {}
        return fetch()
      }
    }
    let answers = gets.map { Recorder<Int>().subscribe(to: $0) }
    open.finish()

    for answer in answers {
      _ = try await answer.ended()
      #expect(answer.values == [7])
    }
    #expect(calls.withLock { $0 } == 1)
  }

  // MARK: Ahead of time

  @Test func `what is prefetched is stored, whatever fails beside it`() {
    let origin = TestOrigin<String, Int>()
    let cache = MemoryCache<String, Int>(countLimit: 9).layered(over: origin)
    let ahead = Recorder<Void>().subscribe(to: cache.prefetch(["a", "b", "c", "a"]))

    #expect(["a", "b", "c"].map { origin[$0].runs.count } == [1, 1, 1])
    origin["a"].next(1)
    origin["a"].completed()
    origin["b"].failed(Trouble())
    #expect(ahead.end == nil)
    origin["c"].completed()

    #expect(ahead.transcript == ["next ()", "completed"])
    #expect(cache.now("a") == 1)
  }

  @Test func `who leaves a prefetch gives up what nobody else waits for`() {
    let origin = TestOrigin<String, Int>()
    let cache = MemoryCache<String, Int>(countLimit: 9).layered(over: origin.reusingInFlight())
    let ahead = Recorder<Void>().subscribe(to: cache.prefetch(["a", "b"]))
    let get = Recorder<Int>().subscribe(to: cache.get("b"))

    ahead.dispose()

    #expect(origin["a"].disposals == 1)
    #expect(origin["b"].disposals == 0)
    get.dispose()
  }

  // MARK: Whether there is a value

  @Test func `a cache contains what it stores, and asks no origin`() async throws {
    let origin = TestOrigin<String, Int>()
    let lower = TestCache<String, Int>()
    let memory = MemoryCache<String, Int>(countLimit: 9)
    let cache = memory.layered(over: lower.layered(over: origin))
    memory.set(1, for: "a")
    lower.set(2, for: "b")

    for (key, isThere) in [("a", true), ("b", true), ("c", false)] {
      #expect(try await cache.contains(key).value == isThere)
    }

    #expect(origin["c"].runs.isEmpty)
    #expect(memory.keys.sorted() == ["a", "b"])
  }

  @Test func `a store that knows that it has no value is not read`() async throws {
    let memory = MemoryCache<String, Int>(countLimit: 9)

    #expect(try await !memory.contains("a").value)
    #expect(memory.statistics.misses == 0)
  }

  @Test func `a value that is too old to be used is not contained`() async throws {
    let scene = RememberedScene(.ten(usableFor: .seconds(20)), age: .seconds(19))

    #expect(try await scene.users.contains("a").value)
    scene.clock.advance(by: .seconds(1))
    #expect(try await !scene.users.contains("a").value)
  }
}
