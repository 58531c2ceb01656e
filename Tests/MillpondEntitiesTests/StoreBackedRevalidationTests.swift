import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Stored values that an origin confirms, behind an entity store.
@Suite struct StoreBackedRevalidationTests {
  private let clock = ManualClock()
  private let memory: MemoryCache<Int, Thing>
  private let store = EntityStore()
  private let reference = Reference<Thing>(1)
  private let asked = Locked<[String?]>([])

  /// The name of the thing at its origin, which is its version too.
  private let name = Locked("first")

  init() { memory = MemoryCache(countLimit: 10, clock: clock) }

  private var origin: FunctionSource<Int, Thing> {
    FunctionSource.validating(signal: { [asked, name] id, known in
      asked.withLock { $0.append(known?.entityTag) }
      let name = name.withLock { $0 }
      let current = Validator(entityTag: name)
      return .just(
        known == current ? .notModified() : .value(Stamped(Thing(id, name), validator: current)))
    })
  }

  private func get(
    _ cache: some Source<Int, Thing>, _ freshness: Freshness = .atMost(.seconds(10))
  ) -> Recorder<Thing> {
    Recorder().subscribe(to: cache.get(1, Lookup(freshness: freshness)))
  }

  @Test func `a confirmed value is the answer, and stays in memory and store`() {
    let things = memory.layered(over: origin).through(store)
    _ = get(things)
    clock.advance(by: .seconds(11))

    let again = get(things)

    #expect(again.values.map(\.name) == ["first"])
    #expect(asked.withLock { $0 } == [nil, "first"])
    #expect(store.get(reference)?.name == "first")
    clock.advance(by: .seconds(9))
    _ = get(things)
    #expect(asked.withLock { $0.count } == 2)
  }

  @Test func `a new version is in the store, and followers of the entity see it`() {
    let things = memory.layered(over: origin).through(store)
    let follower = get(things)
    clock.advance(by: .seconds(11))
    name.withLock { $0 = "second" }

    _ = get(things)

    #expect(asked.withLock { $0 } == [nil, "first"])
    #expect(follower.values.map(\.name) == ["first", "second"])
    #expect(store.get(reference)?.name == "second")
  }

  @Test func `a confirmed version replaces an older edit, and no edit made during the question`() {
    let held = TestSource<Void>()
    let origin = FunctionSource<Int, Thing>.validating(signal: { _, known in
      let thing = Stamped(Thing(1, "first"), validator: Validator(entityTag: "first"))
      return known == nil
        ? .just(.value(thing)) : held.signal.take(1).map { .notModified() }
    })
    let things = memory.layered(over: origin).through(store)
    _ = get(things)
    clock.advance(by: .seconds(11))

    store.set(Thing(1, "edited"))
    let first = get(things)
    held.next(())
    #expect(store.get(reference)?.name == "first")
    #expect(first.values.last?.name == "first")

    clock.advance(by: .seconds(11))
    let second = get(things)
    store.set(Thing(1, "edited later"))
    held.next(())
    #expect(store.get(reference)?.name == "edited later")
    #expect(second.values.map(\.name) == ["edited later"])
  }

  @Test func `a reload through the store is a question too`() {
    let things = memory.layered(over: origin).through(store)
    _ = get(things)

    let reloaded = get(things, .reload)

    #expect(reloaded.values.map(\.name) == ["first"])
    #expect(asked.withLock { $0 } == [nil, "first"])
  }

  @Test func `a remembered source behind a store is asked about what is stale`() {
    let policy = FreshnessPolicy(freshFor: .after(.seconds(10)))
    let things = origin.remembered(in: memory, policy, clock: clock).through(store)
    _ = get(things, .any)
    clock.advance(by: .seconds(11))

    let again = get(things, .any)

    #expect(again.values.map(\.name) == ["first"])
    #expect(asked.withLock { $0 } == [nil, "first"])
  }
}
