import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct EntityStoreTests {
  let store = EntityStore()
  let card = Reference<Card>(1)

  @Test func `a merge is applied to every way of setting`() {
    store.set(Card(id: 1, numbers: [1]))
    store.set(Card(id: 1, numbers: [2]))
    store.update { cards in
      cards.set(Card(id: 1, numbers: [3]))
      cards.set(Card(id: 1, numbers: [4]))
    }

    #expect(store.get(card)?.numbers == [1, 2, 3, 4])
  }

  @Test func `a removed entity is not merged`() {
    store.set(Card(id: 1, numbers: [1]))
    store.update { cards in
      cards.remove(card)
      cards.set(Card(id: 1, numbers: [2]))
    }

    #expect(store.get(card)?.numbers == [2])
  }

  @Test func `a merge is applied within a nested transaction too`() {
    store.set(Card(id: 1, numbers: [1]))
    store.update { cards in
      cards.set(Card(id: 1, numbers: [2]))
      store.update { $0.set(Card(id: 1, numbers: [3])) }
    }

    #expect(store.get(card)?.numbers == [1, 2, 3])
  }

  @Test func `causes come in the order in which the transaction came to them`() {
    store.set(Thing(0, links: [1, 2, 3, 4]))
    let top = store.recorder(of: 0)

    store.update { things in
      for id in [4, 1, 3, 2] { things.set(Thing(id, "new")) }
    }

    #expect(top.causes == [[], [4, 1, 3, 2]])
  }

  @Test func `observers are notified in the order in which they came, whatever they observe`() {
    for id in 1...8 { store.set(Thing(id, links: [0])) }
    let received = Locked<[Int]>([])
    let ids = [3, 1, 8, 2, 1, 5, 0, 7, 3, 4, 6]
    for (number, id) in ids.enumerated() {
      Recorder<EntityChange<Thing>>().subscribe(to: store.signal(of: Reference<Thing>(id))) { _ in
        received.withLock { $0.append(number) }
      }
    }
    received.withLock { $0 = [] }

    store.set(Thing(0, "new"))

    #expect(received.withLock { $0 } == Array(ids.indices))
  }

  @Test func `sets of four threads are all merged`() async {
    let store = store
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<250 {
            store.set(Card(id: 1, numbers: [thread * 250 + number]))
          }
        }
      }
    }

    #expect(store.get(card)?.numbers == Set(0..<1_000))
  }

  @Test func `a removal of all of one type leaves the others, and is reported`() {
    store.set(Thing(1, "a"))
    store.set(Card(id: 1, numbers: []))
    let recorder = store.recorder(of: 1)

    store.removeAll(of: Thing.self)

    #expect(recorder.names == ["a", "–"])
    #expect(store.count == 1)
    store.removeAll()
    #expect(store.count == 0)
  }

  @Test func `a removal of all takes what its transaction has set before, not after`() {
    store.set(Thing(1))
    store.update { things in
      things.set(Thing(2))
      things.removeAll()
      things.set(Thing(3))
      #expect(things.get(Reference<Thing>(1)) == nil)
      #expect(things.get(Reference<Thing>(2)) == nil)
    }

    #expect(store.get(Reference<Thing>(3)) != nil)
    #expect(store.count == 1)
  }

  @Test func `a transaction returns what its closure does`() {
    #expect(store.update { $0.get(card) == nil })
  }

  @Test func `a subscriber in a transaction gets the state before it, and then its commit`() {
    let recorder = store.update { things in
      things.set(Thing(1, "a"))
      return store.recorder(of: 1)
    }

    #expect(recorder.names == ["–", "a"])
  }

  @Test func `a subscriber in a callback gets the present value at once, and no older one`() {
    let late = Recorder<EntityChange<Thing>>()
    Recorder<EntityChange<Thing>>().subscribe(to: store.signal(of: Reference<Thing>(1))) {
      [store] event in
      guard case .next(let change) = event, change.value?.name == "a" else { return }
      store.set(Thing(1, "b"))
      late.subscribe(to: store.signal(of: Reference<Thing>(1)))
    }

    store.set(Thing(1, "a"))

    #expect(late.names == ["b"])
  }

  @Test func `changes that come too fast are throttled by the operator for that`() {
    let clock = ManualClock()
    let names = Recorder<String?>().subscribe(
      to: store.signal(of: Reference<Thing>(1)).map(\.value?.name)
        .throttle(.seconds(1), clock: clock))

    for name in ["a", "b", "c"] { store.set(Thing(1, name)) }
    clock.advance(by: .seconds(1))

    #expect(names.values == [nil, "c"])
  }

  @Test func `a store that is released ends its signals`() {
    var store: EntityStore? = EntityStore()
    let recorder = store?.recorder(of: 1)
    store = nil

    #expect(recorder?.failure is SignalError)
  }

  @Test func `a value is reported though its type was unknown at the subscription`() {
    let ages = Recorder<Int?>().subscribe(
      to: store.signal(of: Reference<Person>("a")).map(\.value?.age))
    store.set(Thing(1, owner: "a"))
    let thing = store.recorder(of: 1)

    store.set(Person(id: "a", age: 7))

    #expect(ages.values == [nil, 7])
    #expect(thing.values.last?.isCaused(by: Reference<Person>("a")) == true)
  }

  @Test func `each of many observers receives the changes that concern it, in order`() {
    let count = 300
    store.update { things in
      for id in 0..<count { things.set(Thing(id, links: [id + 1])) }
    }
    let recorders = (0..<count).map { id in
      Recorder<[AnyReference]>().subscribe(
        to: store.signal(of: Reference<Thing>(id)).map(\.causes))
    }

    store.update { things in
      for id in 0..<count { things.set(Thing(id, "new", links: [id + 1])) }
    }

    for (id, recorder) in recorders.enumerated() {
      #expect(
        recorder.values == [[], (id..<count).map { AnyReference(Reference<Thing>($0)) }])
    }
  }

  @Test func `a merge that writes is part of the transaction`() {
    struct Echo: Mergeable {
      let id: Int
      let store: EntityStore
      func merged(with newer: Echo) -> Echo {
        store.set(Thing(id, "echo"))
        return newer
      }
      static func == (left: Echo, right: Echo) -> Bool { left.id == right.id }
    }
    store.set(Echo(id: 1, store: store))
    let thing = store.recorder(of: 1)

    store.set(Echo(id: 1, store: store))
    store.removeAll()

    #expect(thing.names == ["–", "echo", "–"])
  }

  @Test func `a reference to any type knows which it is to`() {
    #expect(Reference<Thing>(1).description == "Thing 1")
    #expect(AnyReference(Reference<Thing>(1)).reference(to: Thing.self) == Reference<Thing>(1))
    #expect(AnyReference(Reference<Thing>(1)).reference(to: Card.self) == nil)
  }

  @Test func `what an equality leaves out is no change, and is not stored`() {
    let row = Reference<Row>(1)
    store.set(Row(id: 1, text: "first"))
    let changes = Recorder<EntityChange<Row>>().subscribe(to: store.signal(of: row))

    store.set(Row(id: 1, text: "second"))
    #expect(store.get(row)?.text == "first")
    store.remove(row)
    store.set(Row(id: 1, text: "second"))

    #expect(changes.values.map { $0.value?.text } == ["first", nil, "second"])
  }
}

/// An entity whose equality is that of identities.
private struct Row: Entity {
  let id: Int
  var text: String

  static func == (left: Row, right: Row) -> Bool {
    left.id == right.id
  }
}
