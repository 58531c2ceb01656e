import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Commits that concern many observers.
@Suite struct EntityNoticesTests {
  private let store = EntityStore()
  private static let count = 3_000

  /// A chain, each of which links to the next.
  init() {
    store.update { things in
      for id in 0..<Self.count { things.set(Thing(id, "old", links: [id + 1])) }
    }
  }

  private func changeLastTwo() {
    store.update { things in
      things.set(Thing(Self.count - 2, "new", links: [Self.count - 1]))
      things.set(Thing(Self.count - 1, "new", links: [Self.count]))
    }
  }

  @Test func `the observers of a long chain are notified in their order, each with its causes`() {
    let order = Locked<[Int]>([])
    let ids = (0..<Self.count).shuffled()
    let recorders = ids.map { id in
      Recorder<EntityChange<Thing>>().subscribe(
        to: store.signal(of: Reference<Thing>(id)).onNext { change in
          if !change.causes.isEmpty { order.withLock { $0.append(id) } }
        })
    }

    changeLastTwo()

    #expect(order.withLock { $0 } == ids)
    for (id, recorder) in zip(ids, recorders) {
      let causes = id == Self.count - 1 ? [id] : [Self.count - 2, Self.count - 1]
      #expect(recorder.causes == [[], causes], "\(id)")
    }
  }

  @Test func `the marks of many that have left are wiped, and those of others stay`() {
    let staying = store.recorder(of: Self.count - 10)
    let list = Recorder<[EntityListChange<Thing>]>()
    list.subscribe(to: store.query(Thing.self, depth: 1).changes)
    for id in 0..<Self.count { store.recorder(of: id).dispose() }

    store.set(Thing(Self.count, "last"))

    #expect(staying.causes == [[], [Self.count]])
    #expect(list.values.map(\.count) == [1, 2])
    list.dispose()
    #expect(store.core.tables.withLock { $0.graph.markedCount } < 100)
  }

  @Test func `a list with all references is notified along a long chain`() {
    let list = Recorder<[Thing]>()
    list.subscribe(to: store.query(Thing.self, depth: .max).values)
    let watcher = store.recorder(of: 0)

    changeLastTwo()

    #expect(list.values.map(\.count) == [Self.count, Self.count])
    #expect(watcher.causes == [[], [Self.count - 2, Self.count - 1]])
  }

  @Test(arguments: [3, 1_000])
  func `however many entities change, each observer receives those below it`(observed: Int) {
    let ids = (0..<observed).map { $0 * (Self.count / observed) }
    let recorders = ids.map { store.recorder(of: $0) }
    let changed = stride(from: 1, to: Self.count, by: 7).shuffled()

    store.update { things in
      for id in changed { things.set(Thing(id, "new", links: [id + 1])) }
    }

    for (id, recorder) in zip(ids, recorders) {
      #expect(recorder.causes.last == changed.filter { $0 >= id }, "\(id)")
    }
  }

  @Test func `notices show the values of their own commit, also while another waits`() {
    let names = Locked<[String]>([])
    let observer = store.signal(of: Reference<Thing>(0)).subscribe { [store] event in
      guard case .next(let change) = event, let name = change.value?.name else { return }
      names.withLock { $0.append(name) }
      if name == "1" { store.set(Thing(0, "2", links: [1])) }
    }
    let others = (0..<Self.count).map { _ in store.recorder(of: 0) }

    store.set(Thing(0, "1", links: [1]))

    #expect(names.withLock { $0 } == ["old", "1", "2"])
    #expect(others.allSatisfy { $0.names == ["old", "1", "2"] })
    observer.dispose()
  }
}

/// The observers of one entity.
@Suite struct ObserverListTests {
  @Test(arguments: 0..<10)
  func `observers are visited in their order, also after others have left`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var (list, expected) = (ObserverList(), [Int]())
    for number in 1...500 {
      list.add(NodeObserver { _, _ in Notice(for: number) {} }, number)
      expected.append(number)
      while Bool.random(using: &random), let gone = expected.randomElement(using: &random) {
        expected.removeAll { $0 == gone }
        #expect(list.remove(gone) != nil && list.remove(gone) == nil)
      }
      var found: [Int] = []
      list.forEach { found.append($0.notice(0, []).number) }
      #expect(found == expected)
      #expect(list.isEmpty == expected.isEmpty)
    }
  }
}
