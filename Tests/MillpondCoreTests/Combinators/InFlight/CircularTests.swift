import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Work that asks for what it is itself to bring, and work that asks while it holds a slot.
@Suite struct CircularTests {
  typealias Ask = @Sendable (String) -> Signal<Int>

  /// A source that answers by asking the cache that it is in.
  struct Recipes: Source {
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let recipe: @Sendable (String, Ask) -> Signal<Int>

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      recipe(key) { [whole] in whole.withLock { $0 }?.get($0) ?? .empty }
    }
  }

  let recorder = Recorder<Int>()

  func isCircular(_ error: (any Error)?) -> Bool {
    if case CacheError.circular? = error { true } else { false }
  }

  @Test func `I14 a fetch of k that gets k fails`() {
    let recipes = Recipes { key, ask in ask(key) }
    let cache = AnyCache(recipes.reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("a"))

    #expect(isCircular(recorder.failure))
    #expect(cache.flights.isEmpty)
  }

  @Test func `I14 so does one that gets k through others`() {
    let next = ["a": "b", "b": "c", "c": "a"]
    let recipes = Recipes { key, ask in next[key].map(ask) ?? .empty }
    let cache = AnyCache(MemoryCache(countLimit: 9).layered(over: recipes).reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("a"))

    #expect(isCircular(recorder.failure))
    #expect(cache.flights.isEmpty)
  }

  @Test func `I14 so does one that gets k in a task`() async throws {
    let recipes = Recipes { key, ask in
      let inner = ask(key)
      return .async {
        await Task.yield()
        return try await inner.value
      }
    }
    let cache = AnyCache(recipes.reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("a"))

    _ = try await recorder.ended()
    #expect(isCircular(recorder.failure))
  }

  @Test func `two flights that come to wait for each other don't wait for ever`() async throws {
    let gate = PublishSubject<Void>()
    let other = ["a": "b", "b": "a"]
    // Asked for by a task that waits for the gate, so that the context is still known behind it.
    let tasks = Recipes { key, ask in
      let inner = ask(other[key] ?? "")
      return .async {
        _ = try await gate.signal.value
        return try await inner.value
      }
    }
    let both = AnyCache(tasks.reusingInFlight())
    tasks.whole.withLock { $0 = both }
    let first = Recorder<Int>().subscribe(to: both.get("a"))
    let second = Recorder<Int>().subscribe(to: both.get("b"))

    let opening = Task {
      while !Task.isCancelled {
        gate.next(())
        await Task.yield()
      }
    }
    _ = try await first.ended()
    _ = try await second.ended()
    opening.cancel()

    #expect(isCircular(first.failure) || isCircular(second.failure))
    #expect(both.flights.isEmpty)
  }

  @Test func `an answer made of others is no circle`() {
    let recipes = Recipes { key, ask in
      switch key {
      case "sum": zip(ask("one"), ask("two")).map { $0 + $1 }
      case "one": .just(1)
      default: ask("one").map { $0 + 1 }
      }
    }
    let cache = AnyCache(recipes.reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("sum"))

    #expect(recorder.transcript == ["next 3", "completed"])
  }

  @Test func `whoever asks again in the callback of an answer is no circle`() {
    let origin = TestOrigin<String, Int>()
    let cache = origin.reusingInFlight()
    cache.get("a").subscribe(onNext: { _ in recorder.subscribe(to: cache.get("a")) })
    let sync = Recipes { _, _ in .just(1) }.reusingInFlight()
    let inside = Recorder<Int>()
    sync.get("a").subscribe(onNext: { _ in inside.subscribe(to: sync.get("a")) })

    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.failure == nil && inside.failure == nil)
    #expect(recorder.values == [1] && inside.values == [1])
  }

  @Test func `a task made inside a fetch may ask for the same key after it`() async throws {
    let late = Recorder<Int>()
    let started = PublishSubject<Void>()
    let recipes = Recipes { key, ask in
      let inner = ask(key)
      return .async {
        Task {
          _ = try await started.signal.value
          late.subscribe(to: inner)
        }
        return 1
      }
    }
    let cache = AnyCache(recipes.reusingInFlight())
    recipes.whole.withLock { $0 = cache }
    let answer = try await cache.get("a").value

    let opening = Task {
      while !Task.isCancelled {
        started.next(())
        await Task.yield()
      }
    }
    _ = try await late.values(count: 1)
    opening.cancel()

    #expect(answer == 1 && late.values == [1])
  }

  @Test(arguments: [1, 2])
  func `work that holds the last slot and asks for one more is served`(count: Int) {
    let recipes = Recipes { key, ask in
      guard let number = Int(key), number > 0 else { return .just(0) }
      return ask("\(number - 1)").map { $0 + 1 }
    }
    let cache = AnyCache(recipes.limited(to: count).reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("20"))

    #expect(recorder.transcript == ["next 20", "completed"])
  }

  @Test func `a slot that was lent comes back`() {
    let origin = TestOrigin<String, Int>()
    let whole = Locked<AnyCache<String, Int>?>(nil)
    struct Nested: Source {
      let origin: TestOrigin<String, Int>
      let whole: Locked<AnyCache<String, Int>?>
      func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
        guard key == "outer" else { return origin.get(key, lookup) }
        let whole = whole
        return .deferred { whole.withLock { $0 }?.get("inner") ?? .empty }
      }
    }
    let cache = AnyCache(Nested(origin: origin, whole: whole).limited(to: 1).reusingInFlight())
    whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("outer"))
    let third = Recorder<Int>().subscribe(to: cache.get("third"))
    #expect(origin["inner"].activeRuns == 1 && origin["third"].activeRuns == 0)

    origin["inner"].next(1)
    origin["inner"].completed()
    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(origin["third"].activeRuns == 1)
    let fourth = Recorder<Int>().subscribe(to: cache.get("fourth"))
    #expect(origin["fourth"].activeRuns == 0)
    third.dispose()
    #expect(origin["fourth"].activeRuns == 1)
    fourth.dispose()
  }
}
