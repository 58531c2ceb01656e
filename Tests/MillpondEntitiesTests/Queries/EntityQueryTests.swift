import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct EntityQueryTests {
  let store = EntityStore()

  private var byName: EntityQuery<Thing> {
    store.query(Thing.self, where: { !$0.name.isEmpty }, by: { $0.name < $1.name })
  }

  @Test func `the present entities come first, filtered and sorted`() {
    for (id, name) in [(1, "b"), (2, ""), (3, "a")] { store.set(Thing(id, name)) }

    let values = Recorder<[Thing]>().subscribe(to: byName.values)

    #expect(values.values.map { $0.map(\.name) } == [["a", "b"]])
  }

  @Test func `a query of nothing says so`() {
    let values = Recorder<[Thing]>().subscribe(to: byName.values)
    let changes = Recorder<[EntityListChange<Thing>]>().subscribe(to: byName.changes)

    #expect(values.values == [[]])
    #expect(changes.values == [[]])
  }

  @Test func `each commit gives the steps that it takes`() {
    for (id, name) in [(1, "b"), (2, "d")] { store.set(Thing(id, name)) }
    let changes = Recorder<[EntityListChange<Thing>]>().subscribe(to: byName.changes)

    store.set(Thing(3, "c"))
    store.set(Thing(3, "a"))
    store.set(Thing(3, "aa"))
    store.set(Thing(3, ""))
    store.remove(Reference<Thing>(1))

    #expect(
      changes.values == [
        [.insert(Thing(1, "b"), at: 0), .insert(Thing(2, "d"), at: 1)],
        [.insert(Thing(3, "c"), at: 1)],
        [.move(Thing(3, "a"), from: 1, to: 0)],
        [.update(Thing(3, "aa"), at: 0)],
        [.remove(at: 0)],
        [.remove(at: 0)],
      ])
  }

  @Test func `a transaction is one step for the list`() {
    let values = Recorder<[Thing]>().subscribe(to: byName.values)

    store.update { things in
      for id in 1...3 { things.set(Thing(id, "\(id)")) }
    }

    #expect(values.values.map(\.count) == [0, 3])
  }

  @Test func `an entity that the query does not show causes no notice`() {
    store.set(Thing(1, "a", links: [2]))
    let values = Recorder<[Thing]>().subscribe(to: byName.values)

    store.set(Thing(2, ""))
    store.set(Card(id: 1, numbers: []))
    store.remove(Reference<Thing>(2))

    #expect(values.values.count == 1)
  }

  @Test func `those of equal rank stay in the order in which they came`() {
    let query = store.query(Thing.self, by: { $0.name.count < $1.name.count })
    let values = Recorder<[Thing]>().subscribe(to: query.values)
    for id in 1...4 { store.set(Thing(id, "a")) }
    store.set(Thing(2, "b"))
    store.set(Thing(1, "aa"))

    #expect(values.values.last?.map(\.id) == [2, 3, 4, 1])
  }

  @Test(arguments: 0..<20)
  func `by the steps one gets to the list, whatever happens`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let store = EntityStore()
    for id in 0..<8 { store.set(Thing(id, "\(Int.random(in: 0..<5, using: &random))")) }
    let query = store.query(Thing.self, where: { $0.name != "0" }, by: { $0.name < $1.name })
    let changes = Recorder<[EntityListChange<Thing>]>().subscribe(to: query.changes)

    for _ in 0..<100 {
      store.update { things in
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let thing = Thing(
            Int.random(in: 0..<16, using: &random), "\(Int.random(in: 0..<5, using: &random))")
          if Bool.random(using: &random) {
            things.set(thing)
          } else {
            things.remove(thing.reference)
          }
        }
      }
    }

    var list: [Thing] = []
    for change in changes.values.joined() { list.apply(change) }
    let stored = (0..<16).compactMap { store.get(Reference<Thing>($0)) }.filter { $0.name != "0" }
    #expect(list.map(\.name) == stored.map(\.name).sorted())
    #expect(Set(list.map(\.id)) == Set(stored.map(\.id)))
  }

  @Test(arguments: 0..<5)
  func `an order that contradicts itself breaks nothing`(seed: Int) {
    let coin = Coin(seed: UInt64(seed))
    let query = store.query(Thing.self, by: { _, _ in coin.toss() })
    let values = Recorder<[Thing]>().subscribe(to: query.values)
    for round in 0..<200 {
      store.set(Thing(round % 7, "\(round)"))
      if round % 5 == 0 { store.remove(Reference<Thing>(round % 3)) }
    }

    let stored = (0..<7).compactMap { store.get(Reference<Thing>($0)) }
    #expect(Set(values.values.last?.map(\.id) ?? []) == Set(stored.map(\.id)))
    #expect(values.values.last?.count == stored.count)
  }
}

/// A source of random decisions.
private final class Coin: Sendable {
  private let random: Locked<SeededGenerator>

  init(seed: UInt64) {
    random = Locked(SeededGenerator(seed: seed))
  }

  func toss() -> Bool {
    random.withLock { Bool.random(using: &$0) }
  }
}
