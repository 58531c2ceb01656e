import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Calls of users' code while a store compares, merges and reads relations, and the state that a
/// transaction leaves to the next one.
@Suite struct EntityEditsTests {
  let store = EntityStore()

  // MARK: While values are compared

  @Test func `a write while a commit compares is compared with the result of that commit`() {
    let store = store
    store.set(Meddling(id: 1, name: "old"))

    store.update { things in
      let hook = Hook { store.set(Meddling(id: 1, name: "old")) }
      things.set(Meddling(id: 1, name: "new", onCompare: hook))
    }

    #expect(store.get(Reference<Meddling>(1))?.name == "old")
  }

  @Test func `values that two commits of one turn replace are released after the turn`() {
    let (store, core) = (store, store.core)
    let isInTurn = Locked<[Bool]>([])
    store.set(
      Meddling(
        id: 1, name: "old",
        load: Load { isInTurn.withLock { $0.append(core.turn.isMine()) } }))

    store.update { things in
      let hook = Hook { store.set(Meddling(id: 1, name: "newest")) }
      things.set(Meddling(id: 1, name: "new", onCompare: hook))
    }

    #expect(isInTurn.withLock { $0 } == [false])
  }

  // MARK: While relations are read

  /// The way in which a value is set.
  enum Way: CaseIterable, Sendable { case alone, update }

  private func set(_ value: Meddling, _ way: Way) {
    switch way {
    case .alone: store.set(value)
    case .update: store.update { $0.set(value) }
    }
  }

  @Test(arguments: Way.allCases)
  func `a place that is given up while its value is about to come is not used for it`(way: Way) {
    let (store, first) = (store, store.meddler(of: 1))
    let second = Locked<Recorder<EntityChange<Meddling>>?>(nil)
    let hook = Hook {
      first.dispose()
      let recorder = store.meddler(of: 2)
      second.withLock { $0 = recorder }
    }

    set(Meddling(id: 1, name: "one", onRelate: hook), way)

    #expect(store.get(Reference<Meddling>(1))?.name == "one")
    #expect(store.get(Reference<Meddling>(2)) == nil)
    #expect(second.withLock { $0?.values.count } == 1)
  }

  @Test(arguments: Way.allCases)
  func `whom a value refers to that is about to come is not forgotten meanwhile`(way: Way) {
    let (store, first) = (store, store.meddler(of: 2))
    let third = Locked<Recorder<EntityChange<Meddling>>?>(nil)
    let hook = Hook {
      first.dispose()
      let recorder = store.meddler(of: 3)
      third.withLock { $0 = recorder }
    }

    set(Meddling(id: 1, name: "one", link: Reference(2), onRelate: hook), way)
    let recorder = store.meddler(of: 1)
    store.set(Meddling(id: 3, name: "three"))
    store.set(Meddling(id: 2, name: "two"))

    #expect(recorder.values.map(\.causes) == [[], [AnyReference(Reference<Meddling>(2))]])
    #expect(third.withLock { $0?.values.count } == 2)
  }

  @Test func `relations may write an entity of their own type when they are first read`() {
    Beginner.hook.withLock { [store] in $0 = { store.set(Beginner(id: 1)) } }
    let seen = store.update { beginners in
      beginners.set(Beginner(id: 2))
      return [1, 2].filter { beginners.get(Reference<Beginner>($0)) != nil }
    }

    #expect(seen == [1, 2])
    #expect(store.count == 2)
  }

  // MARK: From one transaction to the next

  @Test func `an undone edit is not found by the next transactions`() {
    store.update { things in
      things.set(Thing(1))
      try? store.update { things in
        for id in 2..<12 { things.set(Thing(id)) }
        throw Refusal()
      }
    }

    for name in ["new", "newer"] {
      store.update { things in
        for id in [1, 2] { things.set(Thing(id, name)) }
      }
    }

    #expect(store.get(Reference<Thing>(1))?.name == "newer")
    #expect(store.get(Reference<Thing>(2))?.name == "newer")
  }

  @Test func `a removal of a type is forgotten by the next transactions`() {
    store.removeAll(of: Thing.self)
    let token = FillToken()
    store.set(Thing(2))
    store.update { $0.set(Thing(3)) }

    store.restore(Thing(1), token)

    #expect(store.get(Reference<Thing>(1)) != nil)
  }

  @Test func `an observer after an end receives what comes then`() {
    store.end()
    let recorder = store.recorder(of: 1)
    store.set(Thing(1, "new"))
    store.update { $0.set(Thing(1, "newer")) }

    #expect(recorder.names == ["–", "new", "newer"])
  }

  @Test func `a restored entity does not replace the answer of a source in the same transaction`() {
    let token = FillToken()
    store.update { [store] _ in
      store.core.fill(Thing(1, "brought"), token)
      store.restore(Thing(1, "restored"), token)
    }

    #expect(store.get(Reference<Thing>(1))?.name == "brought")
  }

  @Test func `an observer of a type learns at once which entities a single set evicted`() {
    let store = EntityStore(countLimit: 1)
    store.set(Person(id: "a"))
    let recorder = Recorder<[TableEdit<Person>]>().subscribe(to: store.edits(of: Person.self))

    store.set(Thing(1))

    #expect(recorder.values.map { $0.map { $0.value?.id } } == [["a"], [nil]])
  }
}

/// An entity that does something while the store looks at it.
private struct Meddling: Entity {
  let id: Int
  let name: String
  var link: Reference<Meddling>?
  var onCompare: Hook?
  var onRelate: Hook?
  var load: Load?

  static let relations: [Relation<Meddling>] = [
    Relation(\.link),
    Relation { meddling in
      meddling.onRelate?.run()
      return Reference<Meddling>?.none
    },
  ]

  static func == (left: Meddling, right: Meddling) -> Bool {
    left.onCompare?.run()
    right.onCompare?.run()
    return left.name == right.name && left.link == right.link
  }
}

/// Something to do, once.
private final class Hook: Sendable {
  private let body: Locked<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = Locked(body)
  }

  func run() {
    let body = body.withLock { $0.take() }
    body?()
  }
}

private final class Load: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
  }
}

/// An entity whose relations do something when they are first read.
private struct Beginner: Entity {
  let id: Int

  static let hook = Locked<(@Sendable () -> Void)?>(nil)

  static var relations: [Relation<Beginner>] {
    let body = hook.withLock { $0.take() }
    body?()
    return []
  }
}

extension EntityStore {
  fileprivate func meddler(of id: Int) -> Recorder<EntityChange<Meddling>> {
    Recorder().subscribe(to: signal(of: Reference<Meddling>(id)))
  }
}
