import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Reloads and refreshes that would wait for themselves.
@Suite struct CircularReloadTests {
  typealias Recipes = CircularTests.Recipes

  let recorder = Recorder<Int>()

  enum Reload: CaseIterable {
    case refresh, reload
  }

  @Test(.timeLimit(.minutes(1)), arguments: Reload.allCases)
  func `a fetch of k that fetches k anew fails`(way: Reload) async throws {
    let late = Locked<MultiplexerMap<Int, Int>?>(nil)
    let fetches = Locked(0)
    let map = MultiplexerMap<Int, Int> { key in
      fetches.withLock { $0 += 1 }
      guard let map = late.withLock({ $0 }) else { return 0 }
      return try await way == .refresh
        ? map.refresh(key).value : map.get(key, freshness: .reload).value
    }
    late.withLock { $0 = map }

    let asks: [Signal<Int>] = [map.get(1), map.get(1, freshness: .reload), map.refresh(1)]
    for (number, ask) in asks.enumerated() {
      let ended = Recorder<Int>().subscribe(to: ask)
      _ = try await ended.ended()
      #expect(isCircular(ended.failure), "\(number)")
    }
    #expect(map.flights.isEmpty)
    late.withLock { $0 = nil }
  }

  @Test(.timeLimit(.minutes(1))) func `two that refresh each other fail`() async throws {
    let late = Locked<MultiplexerMap<String, Int>?>(nil)
    let map = MultiplexerMap<String, Int> { key in
      guard let map = late.withLock({ $0 }) else { return 0 }
      return try await map.refresh(key == "a" ? "b" : "a").value + 1
    }
    late.withLock { $0 = map }

    for ask in [map.get("a"), map.refresh("b")] {
      let ended = Recorder<Int>().subscribe(to: ask)
      _ = try await ended.ended()
      #expect(isCircular(ended.failure))
    }
    #expect(map.flights.isEmpty)
    late.withLock { $0 = nil }
  }

  enum Sharing: CaseIterable {
    case reusing, replayed, replayedAlone, remembered, limited

    func cache(_ source: some Source<String, Int>) -> AnyCache<String, Int> {
      let memory = MemoryCache<String, Int>(countLimit: 9)
      return switch self {
      case .reusing: AnyCache(memory.layered(over: source).reusingInFlight())
      case .replayed: AnyCache(source.replayed(in: memory))
      case .replayedAlone: AnyCache(source.replayed(in: memory, maxFlights: 1))
      case .remembered: AnyCache(source.remembered(in: memory, FreshnessPolicy()))
      case .limited: AnyCache(source.limited(to: 2).reusingInFlight())
      }
    }
  }

  /// A source that answers by a get from its own cache, on terms of its own.
  struct Reloads: Source {
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let next: [String: String]

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      .deferred { whole.withLock { $0 }?.get(next[key] ?? key, freshness: .reload) ?? .empty }
    }
  }

  @Test(arguments: Sharing.allCases, [Freshness.any, .reload, .atMost(.seconds(1))])
  func `a fetch that reloads its own key fails, directly and through others`(
    sharing: Sharing, freshness: Freshness
  ) {
    for next in [["a": "a"], ["a": "b", "b": "a"], ["a": "b", "b": "c", "c": "b"]] {
      let source = Reloads(next: next)
      let cache = sharing.cache(source)
      source.whole.withLock { $0 = cache }

      let recorder = Recorder<Int>().subscribe(to: cache.get("a", freshness: freshness))

      #expect(isCircular(recorder.failure), "\(next): \(recorder.transcript)")
      #expect(cache.flights.isEmpty)
      source.whole.withLock { $0 = nil }
    }
  }

  @Test func `a reload that waits for another, which fails, reloads all the same`() {
    let origin = TestOrigin<String, Int>()
    let cache = origin.remembered(in: MemoryCache(countLimit: 9), FreshnessPolicy())
    let first = Recorder<Int>().subscribe(to: cache.get("a", freshness: .reload))
    let second = Recorder<Int>().subscribe(to: cache.get("a", freshness: .reload))

    origin["a"].failed(CacheError.circular(key: "other"))
    origin["a"].next(2)
    origin["a"].completed()

    #expect(isCircular(first.failure))
    #expect(second.transcript == ["next 2", "completed"])
  }

  @Test func `a task made inside a fetch may reload the key after it`() async throws {
    let late = Recorder<Int>()
    let opened = PublishSubject<Void>()
    let door = opened.signal.replayLast(.keepRunning)
    door.subscribe()
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let isFirst = Locked(true)
    let recipes = Recipes { key, _ in
      guard isFirst.withLock({ exchange(&$0, false) }) else { return .just(2) }
      return .async {
        Task {
          _ = try await door.value
          late.subscribe(to: whole.withLock { $0 }?.get(key, freshness: .reload) ?? .empty)
        }
        return 1
      }
    }
    let cache = AnyCache(recipes.reusingInFlight())
    whole.withLock { $0 = cache }

    let answer = try await cache.get("a").value
    opened.next(())
    _ = try await late.ended()

    #expect(answer == 1 && late.transcript == ["next 2", "completed"])
    whole.withLock { $0 = nil }
  }
}

private func exchange<Value>(_ value: inout Value, _ new: Value) -> Value {
  defer { value = new }
  return value
}
