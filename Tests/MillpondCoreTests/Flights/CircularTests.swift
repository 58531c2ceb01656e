import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Work that waits for its own result, and work that gets while it holds a slot.
@Suite struct CircularTests {
  typealias Ask = @Sendable (String) -> Signal<Int>

  /// A source that answers by a get from its own cache.
  struct Recipes: Source {
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let recipe: @Sendable (String, Ask) -> Signal<Int>

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      recipe(key) { [whole] in whole.withLock { $0 }?.get($0) ?? .empty }
    }
  }

  let recorder = Recorder<Int>()

  @Test func `a fetch that gets its own key fails as circular`() {
    let recipes = Recipes { key, ask in ask(key) }
    let cache = AnyCache(recipes.reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("a"))

    #expect(isCircular(recorder.failure))
    #expect(cache.flights.isEmpty)
  }

  @Test func `one that runs alone, beyond the limit of flights, fails too`() {
    let next = ["a": "b", "b": "a", "c": "c"]
    let recipes = Recipes { key, ask in next[key].map(ask) ?? .empty }
    let cache = AnyCache(recipes.reusingInFlight(maxFlights: 0))
    recipes.whole.withLock { $0 = cache }

    for key in ["a", "c"] {
      let recorder = Recorder<Int>().subscribe(to: cache.get(key))
      #expect(isCircular(recorder.failure))
    }
  }

  @Test func `a fetch that gets its own key through other keys fails as circular`() {
    let next = ["a": "b", "b": "c", "c": "a"]
    let recipes = Recipes { key, ask in next[key].map(ask) ?? .empty }
    let cache = AnyCache(MemoryCache(countLimit: 9).layered(over: recipes).reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    recorder.subscribe(to: cache.get("a"))

    #expect(isCircular(recorder.failure))
    #expect(cache.flights.isEmpty)
  }

  @Test func `a fetch that gets its own key in a task fails as circular`() async throws {
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
    // A task that waits for the gate does the get, so that the context is still known behind it.
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

  @Test func `a get in the callback of an answer is no circle`() {
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

    // The late fetch leaves such a task, too, which may ask before that fetch has ended, and fail.
    #expect(answer == 1 && late.values.first == 1)
  }

  @Test(arguments: [1, 2])
  func `a fetch of k in a slot that gets k fails, directly and through others`(count: Int) {
    let next = ["a": "a", "b": "c", "c": "b"]
    let recipes = Recipes { key, ask in next[key].map(ask) ?? .empty }
    let cache = AnyCache(recipes.limited(to: count).reusingInFlight())
    recipes.whole.withLock { $0 = cache }

    for key in ["a", "b"] {
      let recorder = Recorder<Int>().subscribe(to: cache.get(key))
      #expect(isCircular(recorder.failure))
    }

    #expect(cache.flights.isEmpty)
    recipes.whole.withLock { $0 = nil }
  }

  @Test(arguments: [false, true])
  func `a bulk call that asks for its own key fails, with flights over it or without`(
    isShared: Bool
  ) throws {
    let clock = ManualClock()
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let next = ["a": "b", "b": "a", "c": "c", "d": "e"]
    let bulk = BulkSource<String, Int> { keys in
      .deferred {
        let cache = whole.withLock { $0 }
        let asks = keys.compactMap { key in next[key].flatMap { cache?.get($0) } ?? .just(1) }
        return zip(asks).map { answers in
          Dictionary(uniqueKeysWithValues: Swift.zip(keys, answers))
        }
      }
    }
    let batched = bulk.batching(window: .milliseconds(10), max: 9, clock: clock)
    let cache = isShared ? AnyCache(batched.reusingInFlight()) : AnyCache(batched)
    whole.withLock { $0 = cache }

    for key in ["a", "c"] {
      let recorder = Recorder<Int>().subscribe(to: cache.get(key))
      for _ in 0..<10 { clock.advance(by: .milliseconds(10)) }
      #expect(isCircular(recorder.failure), "\(key): \(recorder.transcript)")
    }
    recorder.subscribe(to: cache.get("d"))
    for _ in 0..<10 { clock.advance(by: .milliseconds(10)) }

    #expect(recorder.transcript == ["next 1", "completed"])
    whole.withLock { $0 = nil }
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

  @Test func `a slot that was lent comes back`() async throws {
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
    try await origin["fourth"].subscriptions(count: 1)
    fourth.dispose()
  }
}

func isCircular(_ error: (any Error)?) -> Bool {
  if case CacheError.circular? = error { true } else { false }
}
