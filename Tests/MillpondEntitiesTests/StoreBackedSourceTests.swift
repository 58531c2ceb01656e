import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct StoreBackedSourceTests {
  let origin = TestOrigin<Int, Thing>()
  let store = EntityStore()
  let recorder = Recorder<Thing>()
  let reference = Reference<Thing>(1)

  private func answer(_ thing: Thing) {
    origin[thing.id].next(thing)
    origin[thing.id].completed()
  }

  @Test func `an answer is in the store, and later changes follow`() {
    recorder.subscribe(to: origin.through(store).get(1))
    answer(Thing(1, "fetched", links: [2]))
    store.set(Thing(1, "changed", links: [2]))
    store.set(Thing(2, "related"))

    #expect(recorder.values.map(\.name) == ["fetched", "changed", "changed"])
    #expect(recorder.end == nil)
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a value is enough for a caller that awaits one`() async throws {
    store.set(Thing(1, "old"))
    let cache = AnyCache<Int, Thing>(
      get: { .just(Thing($0, "new")) }, set: { _, _ in .just(()) }, remove: { _ in .just(()) },
      removeAll: { .just(()) })

    let thing = try await cache.through(store).get(1).value

    #expect(thing.name == "new")
    #expect(store.get(reference)?.name == "new")
  }

  @Test func `a removal by predicate says that entities have no keys, and removes nothing`()
    async throws
  {
    let memory = MemoryCache<Int, Thing>(countLimit: 10)
    let things = memory.through(store)
    things.set(Thing(1, "kept"), for: 1)

    await #expect {
      try await things.removeAll { _ in true }.value
    } throws: { "\($0)".contains("the layer through a store does not support removeAll(where:)") }

    #expect(memory.peek(1) != nil)
    #expect(store.get(reference) != nil)
  }

  @Test func `a source without an answer is a miss, and its failure is passed on`() {
    recorder.subscribe(to: origin.through(store).get(1))
    origin[1].completed()
    let other = Recorder<Thing>().subscribe(to: origin.through(store).get(2))
    origin[2].failed(Refusal())

    #expect(recorder.transcript == ["completed"])
    #expect(other.failure is Refusal)
  }

  @Test func `a set during a get wins, and is the answer`() {
    recorder.subscribe(to: origin.through(store).get(1))
    store.set(Thing(1, "written"))
    answer(Thing(1, "older"))

    #expect(store.get(reference)?.name == "written")
    #expect(recorder.values.map(\.name) == ["written"])
  }

  @Test func `a second answer, stale at first and then fresh, replaces the first`() {
    recorder.subscribe(to: origin.through(store).get(1))
    origin[1].next(Thing(1, "stale"))
    origin[1].next(Thing(1, "fresh"))
    origin[1].completed()

    #expect(recorder.values.map(\.name) == ["stale", "fresh"])
    #expect(store.get(reference)?.name == "fresh")
  }

  @Test(arguments: [true, false])
  func `an entity removed and answered in one transaction does not come back`(isType: Bool) {
    recorder.subscribe(to: origin.through(store).get(1))
    store.update { things in
      if isType { things.removeAll(of: Thing.self) } else { things.removeAll() }
      answer(Thing(1, "older"))
    }

    #expect(store.get(reference) == nil)
  }

  @Test func `a set of an equal value during a get wins too`() {
    store.set(Thing(1, "written"))
    recorder.subscribe(to: origin.through(store).get(1))
    store.set(Thing(1, "written"))
    answer(Thing(1, "older"))

    #expect(store.get(reference)?.name == "written")
  }

  enum Removal: CaseIterable { case one, type, all }

  @Test(arguments: Removal.allCases, [true, false])
  func `an entity removed during a get does not come back`(removal: Removal, isStored: Bool) {
    if isStored { store.set(Thing(1, "old")) }
    recorder.subscribe(to: origin.through(store).get(1))
    switch removal {
    case .one: store.remove(reference)
    case .type: store.removeAll(of: Thing.self)
    case .all: store.removeAll()
    }
    answer(Thing(1, "older"))

    #expect(store.get(reference) == nil)
    #expect(recorder.transcript == ["completed"])
  }

  @Test(arguments: [true, false])
  func `an entity removed during a get does not come back after a newer write`(isStored: Bool) {
    let later = TestOrigin<Int, Thing>()
    if isStored { store.set(Thing(1, "old")) }
    recorder.subscribe(to: origin.through(store).get(1))
    store.remove(reference)
    let other = Recorder<Thing>().subscribe(to: later.through(store).get(1))
    later[1].next(Thing(1, "newer"))
    answer(Thing(1, "older"))

    #expect(store.get(reference)?.name == "newer")
    #expect(other.values.map(\.name) == ["newer"])
  }

  @Test func `a value for which the store has no space is answered all the same`() {
    let store = EntityStore(countLimit: 0)
    recorder.subscribe(to: origin.through(store).get(1))
    answer(Thing(1, "fetched"))

    #expect(recorder.values.map(\.name) == ["fetched"])
    recorder.dispose()
    store.set(Thing(2))
    #expect(store.count == 0)
  }

  @Test func `a get within a transaction is answered at its end`() {
    store.update { things in
      recorder.subscribe(to: origin.through(store).get(1))
      answer(Thing(1, "fetched"))
      #expect(things.get(reference)?.name == "fetched")
      #expect(recorder.transcript.isEmpty)
    }

    #expect(recorder.values.map(\.name) == ["fetched"])
    #expect(recorder.end == nil)
  }

  @Test func `an observer that leaves within a transaction receives nothing at its end`() {
    store.update { _ in
      recorder.subscribe(to: origin.through(store).get(1))
      answer(Thing(1, "fetched"))
      recorder.dispose()
    }
    store.prune()

    #expect(recorder.transcript.isEmpty)
    #expect(store.count == 0)
  }

  @Test func `answers of two sources in one transaction are merged`() {
    let cards = TestOrigin<Int, Card>()
    store.update { _ in
      for number in 1...2 {
        Recorder<Card>().subscribe(to: cards.through(store) { _ in 1 }.get(number))
        cards[number].next(Card(id: 1, numbers: [number]))
      }
    }

    #expect(store.get(Reference<Card>(1))?.numbers == [1, 2])
  }

  enum Loss: CaseIterable { case pruned, forRoom }

  @Test(arguments: Loss.allCases)
  func `a set during a get wins even if its value has been dropped since`(loss: Loss) {
    let store = EntityStore(countLimit: 1)
    recorder.subscribe(to: origin.through(store).get(1))
    store.set(Thing(1, "written"))
    switch loss {
    case .pruned: store.prune()
    case .forRoom: store.set(Thing(2))
    }
    answer(Thing(1, "older"))

    #expect(store.get(reference) == nil)
    #expect(recorder.transcript == ["completed"])
  }

  @Test func `an answer to a get after a removal is stored`() {
    store.remove(reference)
    recorder.subscribe(to: origin.through(store).get(1))
    answer(Thing(1, "new"))

    #expect(recorder.values.map(\.name) == ["new"])
  }

  @Test func `a removal completes it`() {
    recorder.subscribe(to: origin.through(store).get(1))
    answer(Thing(1, "fetched"))
    store.remove(reference)

    #expect(recorder.values.map(\.name) == ["fetched"])
    #expect(recorder.isCompleted)
  }

  @Test func `writes reach the source and the store`() {
    let cache = TestCache<Int, Thing>()
    let through = cache.through(store)
    through.set(Thing(1, "written"), for: 1)
    #expect(store.get(reference)?.name == "written")

    through.remove(1)
    #expect(store.get(reference) == nil)

    store.set(Thing(2))
    through.removeAll()
    #expect(store.count == 0)
  }

  @Test func `the last subscriber to leave cancels the get`() {
    recorder.subscribe(to: origin.through(store).get(1))
    recorder.dispose()

    #expect(origin[1].activeRuns == 0)
  }

  @Test func `the end of a scope fails all gets, observers and queries, and empties the store`() {
    let session = CacheScope()
    let store = EntityStore(scope: session)
    store.set(Thing(2, "secret"))
    recorder.subscribe(to: origin.through(store).get(1))
    let following = Recorder<Thing>().subscribe(to: origin.through(store).get(2))
    answer(Thing(2, "secret too"))
    let observer = store.recorder(of: 2)
    let query = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)

    session.end()

    for end in [recorder.failure, following.failure, observer.failure, query.failure] {
      let isEnd = if case .scopeEnded? = end as? CacheError { true } else { false }
      #expect(isEnd)
    }
    #expect(observer.names == ["secret too"])
    #expect(query.values.count == 1)
    #expect(store.count == 0)
    answer(Thing(1, "late"))
    #expect(store.count == 0)
    store.set(Thing(1, "next user's"))
    #expect(store.get(reference)?.name == "next user's")
    #expect(recorder.values.isEmpty)
  }
}
