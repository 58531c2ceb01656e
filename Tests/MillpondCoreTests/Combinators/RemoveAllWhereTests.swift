import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Removals by predicate through every composition.
@Suite(.timeLimit(.minutes(1))) struct RemoveAllWhereTests {
  typealias Texts = AnyCache<String, Int>

  enum Composition: CaseIterable {
    case memory, large, double, closures, layered, erased, named, monitored, filtered, conditioned
    case switched, scoped, values, valuesLater, keysWithInverse, reusing, replayed, remembered
    case map, persisted, stoppable, limited
  }

  private static func closures() -> Texts {
    let kept = Locked<[String: Int]>([:])
    return AnyCache(
      get: { key in kept.withLock { $0[key] }.map { .just($0) } ?? .empty },
      set: { value, key in
        kept.withLock { $0[key] = value }
        return .just(())
      },
      removeMatching: { isRemoved in
        for key in kept.withLock({ Array($0.keys) }) where isRemoved(key) {
          kept.withLock { $0[key] = nil }
        }
        return .just(())
      })
  }

  private static func memory() -> MemoryCache<String, Int> { MemoryCache(countLimit: 100) }

  private static func make(_ composition: Composition) -> Texts {
    let (one, other) = (memory(), memory())
    let origin = TestOrigin<String, Int>()
    let identity = Codec<Int, Int>.asynchronous(encode: { $0 }, decode: { $0 })
    return switch composition {
    case .memory: AnyCache(one)
    case .large: AnyCache(MemoryCache<String, Int>(countLimit: 100_000))
    case .double: AnyCache(TestCache<String, Int>())
    case .closures: closures()
    case .layered: AnyCache(one.layered(over: other.layered(over: closures())))
    case .erased: AnyCache(AnyCache(one))
    case .named: AnyCache(one.named("memory"))
    case .monitored: AnyCache(one.monitored(by: CacheMonitor()))
    case .filtered: AnyCache(one.filtered { _, value in value > 0 })
    case .conditioned: AnyCache(one.conditioned { _ in true })
    case .switched: AnyCache(one.switched(to: other) { $0.hasSuffix("1") })
    case .scoped: AnyCache(one.scoped(to: CacheScope()))
    case .values: AnyCache(one.mapValues(encode: { $0 + 1 }, decode: { $0 - 1 }))
    case .valuesLater: AnyCache(one.mapValues(identity))
    case .keysWithInverse:
      AnyCache(one.mapKeys({ "key \($0)" }, inverse: { String($0.dropFirst(4)) }))
    case .reusing: AnyCache(one.layered(over: origin).reusingInFlight())
    case .replayed: AnyCache(other.replayed(in: one))
    case .remembered: AnyCache(origin.remembered(in: one, FreshnessPolicy()))
    case .map: AnyCache(MultiplexerMap(over: origin))
    case .persisted: AnyCache(MultiplexerMap(over: origin, persistence: Persistence(other)))
    case .stoppable: AnyCache(one.stoppable())
    case .limited: AnyCache(one.limited(to: 1))
    }
  }

  private func kept(_ cache: Texts, _ keys: [String] = ["a/1", "a/2", "b/1"]) async throws
    -> [String]
  {
    var kept: [String] = []
    for key in keys where try await cache.get(key, freshness: .cachedOnly).valueIfAny != nil {
      kept.append(key)
    }
    return kept
  }

  private func filled(_ composition: Composition) async throws -> Texts {
    let cache = Self.make(composition)
    for (number, key) in ["a/1", "a/2", "b/1"].enumerated() {
      try await cache.set(number + 1, for: key).value
    }
    #expect(try await kept(cache) == ["a/1", "a/2", "b/1"])
    return cache
  }

  @Test(arguments: Composition.allCases)
  func `the keys that satisfy the predicate go, and no others`(
    composition: Composition
  ) async throws {
    let cache = try await filled(composition)

    try await cache.removeAll { $0.hasPrefix("a/") }.value

    #expect(try await kept(cache) == ["b/1"])
  }

  @Test(arguments: Composition.allCases)
  func `none goes if none satisfies it, and all go if all do`(
    composition: Composition
  ) async throws {
    let cache = try await filled(composition)

    try await cache.removeAll { _ in false }.value
    #expect(try await kept(cache) == ["a/1", "a/2", "b/1"])

    try await cache.removeAll { _ in true }.value
    #expect(try await kept(cache) == [])

    // Again, of an empty cache.
    try await cache.removeAll { _ in true }.value
  }

  @Test(arguments: Composition.allCases)
  func `a later set is kept`(composition: Composition) async throws {
    let cache = try await filled(composition)

    let outcome = cache.removeAll { $0.hasPrefix("a/") }
    try await cache.set(7, for: "a/1").value
    try await outcome.value

    #expect(try await kept(cache) == ["a/1", "b/1"])
  }

  @Test(arguments: Composition.allCases)
  func `a key for which the predicate throws stays, and the outcome fails`(
    composition: Composition
  ) async throws {
    struct Trouble: Error {}
    let cache = try await filled(composition)

    let outcome = cache.removeAll { key in
      if key == "a/2" { throw Trouble() }
      return key.hasPrefix("a/")
    }

    await #expect(throws: Trouble.self) { try await outcome.value }
    #expect(try await kept(cache) == ["a/2", "b/1"])
  }

  @Test(arguments: Composition.allCases)
  func `a predicate may use the cache that calls it`(composition: Composition) async throws {
    let cache = try await filled(composition)

    try await cache.removeAll { [composition] key in
      _ = cache.get(key).subscribe { _ in }
      if composition != .closures { _ = cache.removeAll { $0 == "b/1" } }
      cache.set(9, for: "c/1")
      return key.hasPrefix("a/")
    }.value

    let expected = composition == .closures || composition == .layered ? nil : ["c/1"]
    let kept = try await kept(cache, ["a/1", "a/2", "b/1", "c/1"])
    if let expected { #expect(kept == expected) } else { #expect(kept.contains("c/1")) }
  }

  @Test func `a prefix may end within a character, and an empty one removes all`() async throws {
    let cache = AnyCache(Self.memory())
    let keys = ["user/7/a", "user/77", "user/7/\u{301}", "user/8", "Caf\u{E9}", "Cafe\u{301}"]
    for key in keys { cache.set(1, for: key) }

    _ = cache.removeAll(withPrefix: "user/7/")
    #expect(try await kept(cache, keys) == ["user/77", "user/8", "Caf\u{E9}", "Cafe\u{301}"])
    _ = cache.removeAll(withPrefix: "Cafe")
    _ = cache.removeAll(withPrefix: "")
    #expect(try await kept(cache, keys) == [])
  }

  @Test func `a prefix is that of all keys that are equal, whatever the form of their accents`() {
    for (key, prefix) in [("jos\u{E9}/1", "jose\u{301}/"), ("jose\u{301}/1", "jos\u{E9}/")] {
      let cache = MemoryCache<String, Int>(countLimit: 10)
      cache.set(1, for: key)

      _ = cache.removeAll(withPrefix: prefix)

      #expect(cache.count == 0)
    }
  }

  // MARK: Layers that can't

  @Test func `a layer that can't find its keys says so, and the others remove theirs`() async throws
  {
    let memory = Self.memory()
    let below = Self.memory()
    let cases: [(AnyCache<String, Int>, String)] = [
      (AnyCache(below.mapKeys { $0 }), "keys mapped"),
      (
        AnyCache(get: { below.get($0) }, set: { below.set($0, for: $1) }, remove: nil), "AnyCache"
      ),
    ]
    for (layer, name) in cases {
      let cache = memory.layered(over: layer)
      try await cache.set(1, for: "a/1").value

      let outcome = cache.removeAll { $0.hasPrefix("a/") }

      await #expect {
        try await outcome.value
      } throws: { error in
        guard case CacheError.unsupported(name, let write) = error else { return false }
        return write.hasPrefix("removeAll(where:) ")
      }
      #expect(memory.peek("a/1") == nil)
      #expect(below.peek("a/1") == 1)
    }
  }

  @Test func `an inverse that throws keeps its key and fails the outcome`() async throws {
    struct NoNumber: Error {}
    let memory = Self.memory()
    memory.set(1, for: "7")
    memory.set(2, for: "x")
    memory.set(3, for: "")
    let numbers = memory.mapKeys(
      { (number: Int) in "\(number)" },
      inverse: { text in
        if text.isEmpty { return nil }
        guard let number = Int(text) else { throw NoNumber() }
        return number
      })

    await #expect(throws: NoNumber.self) { try await numbers.removeAll { _ in true }.value }

    #expect(Set(memory.snapshot().map(\.key)) == ["x", ""])
  }

  @Test func `a layer that ignores writes removes nothing and succeeds`() async throws {
    let memory = Self.memory()
    memory.set(1, for: "a/1")

    try await memory.readOnly().removeAll { _ in true }.value
    try await EmptyCache<String, Int>().removeAll { _ in true }.value

    #expect(memory.peek("a/1") == 1)
  }

  // MARK: States

  @Test func `the states of removed keys show nothing, and those of others stay`() async throws {
    let origin = TestOrigin<String, Int>()
    let map = MultiplexerMap(over: origin)
    map.set(1, for: "a/1")
    map.set(2, for: "b/1")
    let states = ["a/1", "b/1"].map { key in
      Recorder<Int?>().subscribe(to: map.states(of: key).map { $0.value })
    }

    _ = map.removeAll { $0.hasPrefix("a/") }

    #expect(states[0].values == [1, nil])
    #expect(states[1].values == [2])
  }

  @Test func `a failure of another key is remembered, and that of a removed key is not`() {
    let origin = TestOrigin<String, Int>()
    let policy = FreshnessPolicy(failureLife: { _ in .seconds(60) })
    let cache = origin.remembered(in: Self.memory(), policy, clock: ManualClock())
    for key in ["a/1", "b/1"] {
      cache.get(key).subscribe { _ in }
      origin[key].failed(CacheError.miss)
    }

    _ = cache.removeAll { $0.hasPrefix("a/") }
    for key in ["a/1", "b/1"] { cache.get(key).subscribe { _ in } }

    #expect(origin["a/1"].runs.count == 2)
    #expect(origin["b/1"].runs.count == 1)
  }

  @Test func `a removal that could not be saved is repeated by a flush`() async throws {
    struct Full: Error {}
    let (kept, fails) = (TestCache<String, Int>(), Locked(true))
    let persistence = FailingRemovals(base: kept, fails: fails)
    let map = MultiplexerMap(
      over: TestOrigin<String, Int>(), persistence: Persistence(persistence))
    map.set(1, for: "a/1")
    map.set(2, for: "b/1")

    await #expect(throws: CacheError.self) {
      try await map.removeAll { $0.hasPrefix("a/") }.value
    }
    #expect(kept.contents == ["a/1": 1, "b/1": 2])
    fails.withLock { $0 = false }
    try await map.flush().value

    #expect(kept.contents == ["b/1": 2])
  }
}

/// A cache whose removals by predicate fail for a while.
private struct FailingRemovals: Cache {
  let base: TestCache<String, Int>
  let fails: Locked<Bool>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { base.get(key, lookup) }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    if case .removeMatching = change, fails.withLock({ $0 }) {
      return .fail(CacheError.unavailable(layer: "test", underlying: CacheError.miss))
    }
    return base.apply(change)
  }
}
