import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Eviction from stores of any size.
@Suite struct EntityEvictionTests {
  private let clock = ManualClock()

  private func ids(_ store: EntityStore) -> [Int] {
    let ids = store.core.tables.withLock { tables in
      tables.table(Thing.self).ids(until: .last)
    }
    return ids.sorted()
  }

  /// Sets things in order, each a second after the one before it.
  private func fill(_ store: EntityStore, _ ids: Range<Int>) {
    for id in ids {
      clock.advance(by: .seconds(1))
      store.set(Thing(id))
    }
  }

  private func isStored(_ store: EntityStore, _ id: Int) -> Bool {
    store.get(Reference<Thing>(id)) != nil
  }

  // MARK: The order

  @Test(arguments: [1_025, 3_000])
  func `the least recently used go, a sixteenth at a time, and the limit holds`(limit: Int) {
    let store = EntityStore(countLimit: limit, clock: clock)
    var former = 0
    for id in 0..<3 * limit {
      fill(store, id..<id + 1)
      let count = store.count
      #expect(count <= limit && former - count <= limit / 16)
      former = count
      if id % 100 == 0 { #expect(ids(store) == Array(id + 1 - count...id)) }
    }
  }

  @Test func `none go before the limit is exceeded`() {
    let store = EntityStore(countLimit: 4_000)

    fill(store, 0..<4_000)

    #expect(store.count == 4_000)
  }

  @Test func `an entity that is read stays, and others go`() {
    let store = EntityStore(countLimit: 4_000, clock: clock)
    fill(store, 0..<3_990)
    for id in 0..<100 { _ = isStored(store, id) }

    fill(store, 3_990..<4_200)

    let others = store.count - 100
    #expect(ids(store) == Array(0..<100) + Array(4_200 - others..<4_200))
  }

  @Test func `if all are read in another order, the limit holds all the same`() {
    let store = EntityStore(countLimit: 4_000, clock: clock)
    fill(store, 0..<4_000)
    for id in (0..<4_000).reversed() {
      clock.advance(by: .seconds(1))
      _ = isStored(store, id)
    }

    fill(store, 4_000..<4_001)

    #expect(ids(store) == Array(0..<3_749) + [4_000])
  }

  @Test func `a cycle of unused entities goes`() {
    let store = EntityStore(countLimit: 2_000)
    for id in 0..<2_000 { store.set(Thing(id, links: [(id + 1) % 2_000])) }

    for id in 2_000..<4_000 { store.set(Thing(id)) }

    #expect(store.count <= 2_000)
    #expect(ids(store).first.map { $0 >= 2_000 } == true)
  }

  // MARK: Coming into use

  enum Use: CaseIterable {
    case observed, retained, queried, referred, referredByNew, set, optimistic
  }

  @Test(arguments: Use.allCases)
  func `an entity that has come into use stays, with those below it`(use: Use) {
    let store = EntityStore(countLimit: 2_000, clock: clock)
    store.set(Thing(0, links: [1], owner: "a"))
    store.set(Thing(1, links: [2]))
    store.set(Thing(2, owner: "b"))
    for name in ["a", "b"] { store.set(Person(id: name)) }
    let root = store.retain(Reference<Thing>(10))
    store.set(Thing(10, links: [11]))
    store.set(Thing(11))
    fill(store, 20..<2_010)
    let recorder = Recorder<[Stamp]>()
    var handles = [root]

    switch use {
    case .observed:
      handles.append(store.signal(of: Reference<Thing>(0)).subscribe(onNext: { _ in }))
    case .retained: handles.append(store.retain(Reference<Thing>(0)))
    case .queried:
      store.set(Stamp(id: 1, thing: Reference(0)))
      recorder.subscribe(to: store.query(Stamp.self).values)
    case .referred: store.set(Thing(11, links: [0]))
    case .referredByNew:
      store.set(Thing(12, links: [0]))
      store.set(Thing(11, links: [12]))
    case .set:
      recorder.subscribe(to: store.query(Stamp.self).values)
      store.set(Stamp(id: 1, thing: Reference(0)))
    case .optimistic:
      let request = PublishSubject<Void>()
      store.set(Thing(0, "new", links: [1], owner: "a"), confirmedBy: request.signal).subscribe()
      fill(store, 5_000..<6_500)
      #expect(store.get(Reference<Thing>(0))?.name == "new")
      request.failed(Refusal())
      handles.append(store.retain(Reference<Thing>(0)))
    }
    fill(store, 12_000..<13_500)

    #expect(store.get(Reference<Thing>(0))?.name == "")
    #expect([0, 1, 2, 10, 11].allSatisfy { isStored(store, $0) })
    #expect(["a", "b"].allSatisfy { store.get(Reference<Person>($0)) != nil })
    #expect(store.count <= 2_000)
    for handle in handles { handle.dispose() }
    recorder.dispose()
    fill(store, 20_000..<22_500)
    #expect(![0, 1, 2, 10, 11].contains { isStored(store, $0) })
  }

  @Test func `an entity in use stays when its node has moved`() {
    let store = EntityStore(countLimit: 4_000, clock: clock)
    let retained = store.retain(Reference<Thing>(0))
    store.set(Thing(0, links: [3_899]))
    fill(store, 1..<3_899)
    store.set(Thing(3_899, links: [3_898]))
    let places = store.core.tables.withLock { $0.graph.nodes.count }

    store.update { things in
      for id in 1..<3_890 { things.remove(Reference<Thing>(id)) }
    }
    let moved = store.core.tables.withLock { $0.graph.nodes.count }
    fill(store, 10_000..<16_000)

    #expect(moved < places)
    #expect([0, 3_898, 3_899].allSatisfy { isStored(store, $0) })
    #expect(store.count <= 4_000)
    retained.dispose()
  }

  // MARK: Going out of use

  @Test func `the limit holds again when entities in use have been removed`() {
    let store = EntityStore(countLimit: 100)
    let handles = (0..<200).map { store.retain(Reference<Thing>($0)) }
    for id in 0..<200 { store.set(Thing(id)) }
    #expect(store.count == 200)

    for id in 0..<150 { store.remove(Reference<Thing>(id)) }
    for id in 1_000..<1_100 {
      store.set(Thing(id))
      #expect(store.count <= 100)
    }
    for handle in handles { handle.dispose() }
  }

  @Test func `a large store comes back to its limit with the next set when nothing is in use`() {
    let store = EntityStore(countLimit: 2_000)
    let handles = (0..<4_000).map { store.retain(Reference<Thing>($0)) }
    for id in 0..<4_000 { store.set(Thing(id)) }
    #expect(store.count == 4_000)

    for handle in handles { handle.dispose() }
    store.set(Thing(4_000))

    #expect(store.count <= 2_000 && isStored(store, 4_000))
  }
}

/// An entity of a list.
private struct Stamp: Entity {
  let id: Int
  let thing: Reference<Thing>

  static let relations: [Relation<Stamp>] = [Relation(\.thing)]
}
