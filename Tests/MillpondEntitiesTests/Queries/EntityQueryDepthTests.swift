import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondEntities

/// Queries that notice changes of what their entities refer to.
@Suite struct EntityQueryDepthTests {
  let store = EntityStore()

  /// Returns a recorder of the identities in each step of a query of things that have a name.
  private func updates(depth: Int) -> Recorder<[EntityListChange<Thing>]> {
    Recorder().subscribe(
      to: store.query(
        Thing.self, where: { !$0.name.isEmpty }, by: { $0.id < $1.id }, depth: depth
      ).changes)
  }

  @Test func `a list shows the names of what its entities refer to`() {
    store.set(Person(id: "p", age: 1))
    store.set(Thing(1, "a", owner: "p"))
    store.set(Thing(2, "b"))
    let query = store.query(Thing.self, by: { $0.id < $1.id }, depth: 1)
    let ages = Recorder<[Int?]>().subscribe(
      to: query.values.map { [store] in $0.map { store.get($0.owner)?.age } })

    store.set(Person(id: "p", age: 2))
    store.set(Person(id: "p", age: 2))
    store.set(Person(id: "other", age: 3))
    store.set(Thing(2, "b", owner: "other"))
    store.remove(Reference<Person>("p"))

    #expect(ages.values == [[1, nil], [2, nil], [2, 3], [nil, 3]])
  }

  @Test(arguments: [(-1, 1), (0, 1), (1, 2), (2, 3), (3, 4), (254, 4), (255, 4), (.max, 4)])
  func `changes are noticed down to the depth, and not below it`(depth: Int, noticed: Int) {
    // The first has a name, so it is the only one shown.
    store.update { things in
      for id in 0..<4 { things.set(Thing(id, id == 0 ? "shown" : "", links: [id + 1])) }
    }
    let recorder = updates(depth: depth)

    for id in 1...3 { store.set(Thing(id, "", links: [id + 1, 100 + id])) }

    #expect(recorder.values.count == noticed)
    #expect(
      recorder.values.dropFirst().allSatisfy {
        $0 == [.update(Thing(0, "shown", links: [1]), at: 0)]
      })
  }

  @Test func `each commit is noticed once, whatever the shape of the references`() {
    store.update { things in
      things.set(Thing(1, "top", links: [2, 3, 2, 4]))
      things.set(Thing(2, "", links: [4, 1]))
      things.set(Thing(3, "", links: [4, 3]))
      things.set(Thing(4, ""))
    }
    let recorder = updates(depth: .max)

    store.set(Thing(4, "", links: [1]))
    store.update { things in
      things.set(Thing(2, "", links: [4]))
      things.set(Thing(3, ""))
      things.set(Thing(1, "new", links: [2, 3]))
    }

    #expect(
      recorder.values.dropFirst() == [
        [.update(Thing(1, "top", links: [2, 3, 2, 4]), at: 0)],
        [.update(Thing(1, "new", links: [2, 3]), at: 0)],
      ])
  }

  @Test func `a change that is undone or equal is silent`() {
    store.set(Thing(1, "a", links: [2]))
    store.set(Thing(2, "", links: [3]))
    let recorder = updates(depth: 2)

    try? store.update { things throws(Refusal) in
      things.set(Thing(2, "undone"))
      throw Refusal()
    }
    store.update { things in
      things.set(Thing(3, "", links: [4]))
      things.remove(Reference<Thing>(3))
    }

    #expect(recorder.values.count == 1)
  }

  @Test func `two queries of one type notice at their own depths`() {
    store.set(Thing(1, "a", links: [2]))
    store.set(Thing(2, "", links: [3]))
    let recorders = [0, 1, 2].map { updates(depth: $0) }

    store.set(Thing(3, "", links: [5]))
    store.set(Thing(2, "", links: [3, 4]))
    recorders[2].dispose()
    store.set(Thing(3, "", links: [6]))
    store.set(Thing(2, "", links: [3, 5]))

    #expect(recorders.map(\.values.count) == [1, 3, 3])
  }

  @Test func `a filter may ask for what the entities refer to`() {
    store.set(Person(id: "p", age: 1))
    store.set(Thing(1, "a", owner: "p"))
    let query = store.query(
      Thing.self, where: { [store] in (store.get($0.owner)?.age ?? 0) >= 18 }, depth: 1)
    let recorder = Recorder<[Thing]>().subscribe(to: query.values)

    store.set(Person(id: "p", age: 18))
    store.set(Person(id: "p", age: 17))

    #expect(recorder.values.map(\.count) == [0, 1, 0])
  }

  @Test func `a large commit is noticed as a small one`() {
    let count = 2_000
    store.update { entities in
      for id in 0..<count { entities.set(Thing(id, "a", owner: "\(id)")) }
    }
    let recorder = Recorder<[Thing]>().subscribe(
      to: store.query(Thing.self, depth: 1).values)

    store.update { entities in
      for id in 0..<count { entities.set(Person(id: "\(id)", age: 1)) }
    }
    store.set(Person(id: "0", age: 2))

    #expect(recorder.values.map(\.count) == [count, count, count])
  }

  @Test func `the removals of a sign-out are not shown`() {
    store.set(Thing(1, "a", owner: "p"))
    store.set(Person(id: "p"))
    let recorder = updates(depth: 1)

    store.end()
    store.set(Person(id: "p", age: 1))

    #expect(recorder.values.count == 1)
    #expect(recorder.failure is CacheError)
  }

  // MARK: Cost

  @Test func `a change costs what refers to it in lists, however many others do`() {
    let count = 10_000
    store.update { entities in
      for id in 0..<count { entities.set(Favourite(id: id, person: Reference("p"))) }
      entities.set(Thing(1, "a", owner: "p"))
    }
    let recorder = updates(depth: 1)
    store.core.tables.withLock { $0.graph.steps = 0 }

    store.set(Person(id: "p", age: 1))

    #expect(recorder.values.count == 2)
    #expect(store.core.tables.withLock { $0.graph.steps } < 4)
  }

  @Test func `a change below the depth costs nothing, however long the chain is`() {
    let count = 10_000
    store.update { things in
      for id in 0..<count { things.set(Thing(id, id == 0 ? "a" : "", links: [id + 1])) }
    }
    let all = updates(depth: 1)
    store.core.tables.withLock { $0.graph.steps = 0 }

    store.set(Thing(count / 2, "", links: [count / 2 + 1, 0]))

    #expect(all.values.count == 1)
    #expect(store.core.tables.withLock { $0.graph.steps } < 8)
  }

  @Test func `when a list leaves, its marks go with the next ones`() {
    store.update { things in
      for id in 0..<100 { things.set(Thing(id, "a", links: [id + 1])) }
    }
    let recorder = updates(depth: 3)
    #expect(store.core.tables.withLock { $0.graph.markedCount } == 101)

    recorder.dispose()

    #expect(store.core.tables.withLock { $0.graph.markedCount } == 0)
    #expect(store.core.tables.withLock { $0.depths.max() } == 0)
  }

  @Test func `a list that stays keeps its marks when observers leave`() {
    store.set(Thing(1, "a", links: [2]))
    store.set(Thing(2, "", links: [3]))
    let recorder = updates(depth: 1)
    for _ in 0..<3 { store.recorder(of: 2).dispose() }

    store.set(Thing(2, "", links: [4]))

    #expect(recorder.values.count == 2)
  }

  // MARK: Model

  @Test(arguments: 0..<20)
  func `after any writes, a list is notified when its entities change within the depth`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    let ids = 0..<12
    let depths = [0, 1, 2, 3, 500]
    var recorders = depths.map { updates(depth: $0) }
    var expected = depths.map { _ in 1 }
    var things: [Int: Thing] = [:]
    for _ in 0..<150 {
      let before = things
      store.update { entities in
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let id = Int.random(in: ids, using: &random)
          if Int.random(in: 0..<6, using: &random) == 0 {
            things[id] = nil
            entities.remove(Reference<Thing>(id))
          } else {
            let links = (0..<Int.random(in: 0...2, using: &random)).map { _ in
              Int.random(in: ids, using: &random)
            }
            let thing = Thing(id, ["", "a", "b"].randomElement(using: &random) ?? "", links: links)
            things[id] = thing
            entities.set(thing)
          }
        }
      }
      let changed = Set(ids.filter { before[$0] != things[$0] })
      for (place, depth) in depths.enumerated() {
        let shown = ids.filter { things[$0]?.name.isEmpty == false }
        let touched = shown.filter { !reachable(from: $0, things, depth).isDisjoint(with: changed) }
        let gone = ids.contains { id in
          before[id]?.name.isEmpty == false && !shown.contains(id)
        }
        if !touched.isEmpty || gone { expected[place] += 1 }
        let steps = recorders[place].values
        #expect(steps.count == expected[place], "depth \(depth)")
        if let last = steps.last, !touched.isEmpty || gone {
          #expect(Set(last.compactMap(\.shownID)) == Set(touched), "depth \(depth)")
        }
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        let place = Int.random(in: depths.indices, using: &random)
        recorders[place].dispose()
        recorders[place] = updates(depth: depths[place])
        expected[place] = 1
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        store.recorder(of: Int.random(in: ids, using: &random)).dispose()
      }
    }
  }

  private func reachable(from id: Int, _ things: [Int: Thing], _ depth: Int) -> Set<Int> {
    var found: Set<Int> = [id]
    var level = [id]
    for _ in 0..<min(depth, things.count + 1) {
      level = level.flatMap { things[$0]?.links.map(\.id) ?? [] }
        .filter { found.insert($0).inserted }
    }
    return found
  }
}

private struct Favourite: Entity {
  let id: Int
  let person: Reference<Person>

  static let relations: [Relation<Favourite>] = [Relation(\.person)]
}

extension EntityListChange<Thing> {
  /// The identity of the entity that it shows anew; nil for a removal.
  fileprivate var shownID: Int? {
    switch self {
    case .insert(let thing, at: _), .update(let thing, at: _), .move(let thing, from: _, to: _):
      thing.id
    case .remove, .reset: nil
    }
  }
}
