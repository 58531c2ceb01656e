import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct EntityUseTests {
  let clock = ManualClock()

  private func prunedAfterAnHour(_ use: (EntityStore) -> Void) -> Int {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    clock.advance(by: .seconds(3_600))
    use(store)
    store.prune(unusedFor: .seconds(600))
    return store.count
  }

  @Test func `an answer of a source that changes nothing is a use`() {
    let count = prunedAfterAnHour { store in
      let source = AnyCache<Int, Thing>(
        get: { .just(Thing($0)) }, set: { _, _ in .just(()) }, remove: { _ in .just(()) },
        removeAll: { .just(()) })
      source.through(store).get(1).subscribe(onNext: { _ in }).dispose()
    }

    #expect(count == 1)
  }

  @Test func `within one step of the clock a newer answer stays, and an older set goes`() {
    let store = EntityStore(countLimit: 2, clock: clock)
    let source = AnyCache<Int, Thing>(
      get: { .just(Thing($0)) }, set: { _, _ in .just(()) }, remove: { _ in .just(()) },
      removeAll: { .just(()) })
    store.set(Thing(1))
    source.through(store).get(2).subscribe(onNext: { _ in }).dispose()

    store.set(Thing(3))

    #expect(store.get(Reference<Thing>(1)) == nil)
    #expect(store.get(Reference<Thing>(2)) != nil && store.get(Reference<Thing>(3)) != nil)
  }

  @Test func `an entity observed until now counts as used`() {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    let subscription = store.signal(of: Reference<Thing>(1)).subscribe(onNext: { _ in })
    clock.advance(by: .seconds(3_600))
    subscription.dispose()

    store.prune(unusedFor: .seconds(600))
    let soon = store.count
    clock.advance(by: .seconds(3_600))
    store.prune(unusedFor: .seconds(600))

    #expect(soon == 1)
    #expect(store.count == 0)
  }

  @Test func `an entity retained until now counts as used`() {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    let retention = store.retain(Reference<Thing>(1))
    clock.advance(by: .seconds(3_600))
    retention.dispose()

    store.prune(unusedFor: .seconds(600))

    #expect(store.count == 1)
  }

  @Test func `a prune in an inner transaction that throws is undone`() {
    let store = EntityStore()
    store.set(Thing(1))

    store.update { _ in
      try? store.update { _ in
        store.prune()
        throw CancellationError()
      }
    }

    #expect(store.count == 1)
  }

  @Test func `a prune of the outer transaction stays when an inner one throws`() {
    let store = EntityStore()
    store.set(Thing(1))

    store.update { _ in
      store.prune()
      try? store.update { _ in throw CancellationError() }
    }

    #expect(store.count == 0)
  }

  @Test func `the limit is kept again when references have gone`() {
    let store = EntityStore(countLimit: 10, clock: clock)
    let retention = store.retain(Reference<Thing>(0))
    store.update { things in
      for id in 1...100 { things.set(Thing(id)) }
      things.set(Thing(0, links: Array(1...100)))
    }
    let crowded = store.count

    store.set(Thing(0))
    let alone = store.count
    store.set(Thing(0, links: [1, 2]))
    store.update { $0.set(Thing(0)) }

    #expect(crowded == 101)
    #expect(alone <= 10)
    #expect(store.count <= 10)
    retention.dispose()
  }

  @Test func `a large store comes back to its limit while references go one by one`() {
    let store = EntityStore(countLimit: 100, clock: clock)
    let retention = store.retain(Reference<Thing>(0))
    store.update { things in
      for id in 1...4_000 { things.set(Thing(id)) }
      things.set(Thing(0, links: Array(1...4_000)))
    }

    for count in stride(from: 3_999, through: 0, by: -1) where count % 100 == 0 {
      store.set(Thing(0, links: Array(1..<max(1, count))))
    }

    #expect(store.count <= 100)
    retention.dispose()
  }

  @Test(arguments: [true, false])
  func `a removal of all takes what its transaction has set, of types new to the store too`(
    isNew: Bool
  ) {
    let store = EntityStore()
    if !isNew { store.set(Person(id: "kept", age: 1)) }

    store.update { entities in
      entities.set(Person(id: "set", age: 1))
      entities.removeAll()
      #expect(entities.get(Reference<Person>("set")) == nil)
    }

    #expect(store.count == 0)
  }

  @Test func `a removal of all in an inner transaction that throws is undone, of new types too`() {
    let store = EntityStore()

    store.update { entities in
      entities.set(Person(id: "set", age: 1))
      try? store.update { _ in
        store.removeAll()
        throw CancellationError()
      }
    }

    #expect(store.get(Reference<Person>("set"))?.age == 1)
  }
}
