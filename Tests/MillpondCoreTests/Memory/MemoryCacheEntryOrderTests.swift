import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Entries of signals beside other writes, and by every way of getting them.
@Suite struct MemoryCacheEntryOrderTests {
  let clock = ManualClock()
  let cache: MemoryCache<String, Int>
  let source = TestSource<Int>()

  struct Trouble: Error {}

  init() {
    cache = MemoryCache(countLimit: 10, clock: clock)
  }

  private func subscribe(_ key: String = "a") -> Recorder<Int> {
    Recorder<Int>().subscribe(to: cache[key] ?? .fail(Trouble()))
  }

  // MARK: Order

  @Test(arguments: ["set", "remove", "removeAll"])
  func `a write that was made before an assignment and arrives after it leaves the entry`(
    write: String
  ) {
    let earlier = Revision.next()
    cache["a"] = source.signal
    let change: Change<String, Int> =
      switch write {
      case "set": .set("a", 9, earlier)
      case "remove": .remove("a", earlier)
      default: .removeAll(earlier)
      }

    _ = cache.apply(change)
    let recorder = subscribe()
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
    #expect(cache.peek("a") == 1)
  }

  @Test func `a removal of everything removes earlier entries, and leaves later ones`() {
    cache["a"] = source.signal
    let removal = Revision.next()
    cache["b"] = source.signal

    _ = cache.apply(.removeAll(removal))

    #expect(cache["a"] == nil)
    #expect(cache["b"] != nil)
  }

  @Test(arguments: ["set", "remove", "removeAll", "removeAll(where:)"])
  func `an entry that is got while a later write reports its removals is not started`(
    write: String
  ) {
    let cache = MemoryCache<String, Int>(costLimit: 10, clock: clock) { $0 }
    cache["a"] = source.signal
    _ = cache.apply(.fill("a", Stamped(1), FillToken()))
    let inside = Recorder<Int>()
    let observing = cache.removals.subscribe(onNext: { _ in
      inside.subscribe(to: cache["a"] ?? .empty)
    })

    switch write {
    case "set": cache.set(11, for: "a")  // costs too much, so that it only removes
    case "remove": cache.remove("a")
    case "removeAll": cache.removeAll()
    default: _ = cache.removeAll { $0 == "a" }
    }
    observing.dispose()
    source.next(5)
    source.completed()

    #expect(inside.transcript == ["completed"])
    #expect(source.subscriptions == 0)
    #expect(cache.peek("a") == nil)
  }

  @Test func `an entry is started while a later write of another key reports its removals`() {
    cache.set(1, for: "other")
    cache["a"] = source.signal
    let inside = Recorder<Int>()
    let observing = cache.removals.subscribe(onNext: { [cache] _ in
      inside.subscribe(to: cache["a"] ?? .empty)
    })

    cache.remove("other")
    observing.dispose()
    source.next(5)
    source.completed()

    #expect(inside.values == [5])
    #expect(cache.peek("a") == 5)
  }

  // MARK: Ways of asking

  @Test func `an entry is awaited`() async throws {
    cache["a"] = .async { 7 }

    let value = try await cache["a"]?.value

    #expect(value == 7)
    #expect(cache.peek("a") == 7)
    await #expect(throws: Trouble.self) {
      try await cache.signal(for: "b") { .fail(Trouble()) }.value
    }
  }

  @Test func `a caller that leaves with the first value leaves it in the cache`() {
    let first = Recorder<Int>().subscribe(
      to: cache.signal(for: "a") { [source] in source.signal }.first())

    source.next(1)

    #expect(first.transcript == ["next 1", "completed"])
    #expect(source.activeRuns == 0)
    #expect(cache.peek("a") == 1)
  }

  @Test func `a failure after a value leaves nothing, though the subscribers leave with it`() {
    cache["a"] = source.signal
    _ = subscribe()
    source.next(1)

    source.failed(Trouble())

    #expect(cache.peek("a") == nil)
  }

  @Test func `a value that came before a removal does not stay when the subscriber leaves`() {
    cache["a"] = source.signal
    let recorder = subscribe()
    source.next(1)

    cache["a"] = nil
    recorder.dispose()

    #expect(cache.peek("a") == nil)
  }

  @Test func `a task that is cancelled leaves, and the entry is removed`() async throws {
    cache["a"] = source.signal
    let entry = try #require(cache["a"])
    let task = Task { try await entry.value }
    try await source.subscriptions(count: 1)

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.activeRuns == 0)
    #expect(cache["a"] == nil)
  }

  @Test func `a value that a source sends after its cancellation is stored nowhere`() {
    let impolite = CallbackSource<Int>()
    cache["a"] = impolite.signal
    let first = subscribe()
    first.dispose()

    for run in impolite.runs { run.send(.next(1)) }
    for run in impolite.runs { run.send(.completed) }

    #expect(first.values.isEmpty)
    #expect(cache["a"] == nil)
    #expect(cache.peek("a") == nil)
  }

  @Test func `entries are shared below reuse and in a scope`() {
    let origin = TestOrigin<String, Int>()
    let scope = CacheScope()
    let shared = cache.layered(over: origin).reusingInFlight(clock: clock).scoped(to: scope)
    cache["a"] = source.signal
    let recorders = (0..<2).map { _ in Recorder<Int>().subscribe(to: shared.get("a")) }
    #expect(source.subscriptions == 1)

    scope.end()
    source.next(1)
    source.completed()

    #expect(recorders.allSatisfy { $0.values.isEmpty && $0.failure is CacheError })
    #expect(cache.peek("a") == nil)
    #expect(origin["a"].subscriptions == 0)
  }
}
