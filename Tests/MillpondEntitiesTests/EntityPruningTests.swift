import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct EntityPruningTests {
  let clock = ManualClock()

  private func ids(_ store: EntityStore, _ candidates: some Sequence<Int>) -> [Int] {
    candidates.filter { store.get(Reference<Thing>($0)) != nil }
  }

  @Test func `an entity used within the age stays, with all that it refers to`() {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    store.set(Thing(2))
    clock.advance(by: .seconds(60))
    store.set(Thing(3, links: [2]))
    clock.advance(by: .seconds(30))

    store.prune(unusedFor: .seconds(60))

    #expect(ids(store, 1...3) == [2, 3])
  }

  @Test func `to be asked for is a use`() {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    store.set(Thing(2))
    clock.advance(by: .seconds(60))
    _ = store.get(Reference<Thing>(1))

    store.prune(unusedFor: .seconds(60))

    #expect(ids(store, 1...2) == [1])
  }

  @Test func `a retained entity stays until it is released as often`() {
    let store = EntityStore(clock: clock)
    let first = store.retain(Reference<Thing>(1))
    let second = store.retain(Reference<Thing>(1))
    store.set(Thing(1, links: [2]))
    store.set(Thing(2))

    first.dispose()
    first.dispose()
    store.prune()
    #expect(store.count == 2)

    second.dispose()
    store.prune()
    #expect(store.count == 0)
  }

  @Test func `a cycle that is not observed is pruned as a whole`() {
    let store = EntityStore()
    store.set(Thing(1, links: [2]))
    store.set(Thing(2, links: [1]))

    store.prune()

    #expect(store.count == 0)
  }

  @Test func `an entity that a live query may show stays`() {
    let store = EntityStore()
    store.set(Thing(1))
    store.set(Card(id: 1, numbers: []))
    let query = store.query(Thing.self).values.subscribe(onNext: { _ in })

    store.prune()
    #expect(store.count == 1)

    query.dispose()
    store.prune()
    #expect(store.count == 0)
  }

  @Test func `over the limit the least recently used go first`() {
    let store = EntityStore(countLimit: 4, clock: clock)
    for id in 1...4 {
      store.set(Thing(id))
      clock.advance(by: .seconds(1))
    }
    _ = store.get(Reference<Thing>(1))
    clock.advance(by: .seconds(1))

    store.set(Thing(5))

    #expect(ids(store, 1...5) == [1, 3, 4, 5])
  }

  @Test(arguments: [0, 1, 7, 100])
  func `the limit holds after every set`(limit: Int) {
    let store = EntityStore(countLimit: limit)
    for id in 0..<300 {
      store.set(Thing(id, links: [id - 1]))
      #expect(store.count <= limit)
    }
  }

  enum Use: CaseIterable { case observed, retained, queried }

  @Test(arguments: Use.allCases)
  func `an entity in use stays beyond the limit, and may go when it is not`(use: Use) {
    let store = EntityStore(countLimit: 2)
    let users =
      switch use {
      case .observed:
        (1...5).map { store.signal(of: Reference<Thing>($0)).subscribe(onNext: { _ in }) }
      case .retained: (1...5).map { store.retain(Reference<Thing>($0)) }
      case .queried: [store.query(Thing.self).values.subscribe(onNext: { _ in })]
      }
    for id in 1...5 { store.set(Thing(id)) }
    let inUse = store.count
    for user in users { user.dispose() }

    store.set(Thing(6))

    #expect(inUse == 5)
    #expect(store.count == 2)
    #expect(ids(store, [6]) == [6])
  }

  @Test func `of two prunings in a transaction the stricter counts`() {
    let store = EntityStore(clock: clock)
    store.set(Thing(1))
    store.update { _ in
      store.prune()
      store.prune(unusedFor: .seconds(60))
    }

    #expect(store.count == 0)
  }

  @Test func `the owner of a copy learns which entities have to go for room`() {
    let store = EntityStore(countLimit: 1)
    let copy = Locked<Set<Int>>([])
    let subscription = store.edits(of: Thing.self).subscribe(onNext: { edits in
      copy.withLock { copy in
        for edit in edits {
          if edit.value == nil { copy.remove(edit.id) } else { copy.insert(edit.id) }
        }
      }
    })
    let commits = Recorder<Void>().subscribe(to: store.commits)
    for id in 1...3 { store.set(Thing(id)) }
    store.update { things in
      for id in 4...6 { things.set(Thing(id)) }
    }
    let kept = copy.withLock { $0 }
    let stored = Set(ids(store, 1...6))
    let commitCount = commits.values.count
    store.prune()

    #expect(kept == stored && kept.count == 1 && kept.isSubset(of: 4...6))
    #expect(copy.withLock { $0 } == [])
    #expect(commits.values.count == commitCount + 1)
    subscription.dispose()
  }

  @Test func `a pruning in a transaction happens after its commit`() {
    let store = EntityStore()
    store.update { things in
      things.set(Thing(1))
      store.prune()
      things.set(Thing(2))
      #expect(things.get(Reference<Thing>(1)) != nil)
    }

    #expect(store.count == 0)
  }
}
