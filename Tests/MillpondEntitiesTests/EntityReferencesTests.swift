import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct EntityReferencesTests {
  let store = EntityStore()

  private func rename(_ thing: Reference<Thing>, _ name: String) {
    store.update { store in
      guard var found = store.get(thing) else { return }
      found.name = name
      store.set(found)
      if let owner = store.get(found.owner) {
        store.set(Person(id: owner.id, age: owner.age + 1))
      }
    }
  }

  @Test func `a function of entities is a transaction, or a part of its caller's`() {
    store.set(Thing(1, "a", owner: "p"))
    store.set(Person(id: "p"))
    let recorder = store.recorder(of: 1)

    rename(Reference(1), "b")
    store.update { _ in
      rename(Reference(1), "c")
      rename(Reference(1), "d")
    }

    #expect(recorder.names == ["a", "b", "d"])
    #expect(store.get(Reference<Person>("p"))?.age == 3)
  }

  @Test func `a part of a transaction that throws undoes its own writes only`() {
    store.update { entities in
      entities.set(Thing(1, "kept"))
      try? entities.update { inner throws(Refusal) in
        inner.set(Thing(1, "undone"))
        inner.set(Thing(2, "undone"))
        throw Refusal()
      }
    }

    #expect(store.get(Reference<Thing>(1))?.name == "kept")
    #expect(store.count == 1)
  }

  @Test func `several entities are set in one commit`() {
    let recorder = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)

    store.set([Thing(1, "a"), Thing(2, "b"), Thing(1, "c")])
    store.set([Thing]())

    #expect(recorder.values.map { $0.map(\.name) } == [[], ["c", "b"]])
  }

  @Test func `an absent relation leads to nothing`() {
    let thing = Thing(1)

    #expect(store.get(thing.owner) == nil)
    #expect(store.update { $0.get(thing.owner) } == nil)
  }

  @Test func `several references lead to the entities that exist, in their order`() {
    for id in [1, 2, 4] { store.set(Thing(id, "\(id)")) }
    let thing = Thing(0, links: [4, 3, 1, 4])

    let names = store.get(thing.links).map(\.name)
    let inTransaction = store.update { entities in
      entities.set(Thing(3, "new"))
      entities.remove(Reference<Thing>(1))
      return entities.get(thing.links).map(\.name)
    }

    #expect(names == ["4", "1", "4"])
    #expect(inTransaction == ["4", "new", "4"])
    #expect(store.get([Reference<Thing>]()).isEmpty)
    #expect(store.get([2, 1].lazy.map { Reference<Thing>($0) }).map(\.id) == [2])
  }

  // MARK: References to any type

  @Test func `a reference to any type leads to its entity, or to nothing`() {
    store.set(One.Book(id: 1, title: "one"))
    store.set(Other.Book(id: 1, title: "other"))
    let references = [
      AnyReference(Reference<Other.Book>(1)), AnyReference(Reference<One.Book>(1)),
      AnyReference(Reference<Thing>(1)),
    ]

    let found = references.map { store.get($0) }

    #expect(found.map { $0 is Other.Book } == [true, false, false])
    #expect((found[1] as? One.Book)?.title == "one")
    #expect(found[2] == nil)
    #expect(store.update { $0.get(references[1]) } as? One.Book == One.Book(id: 1, title: "one"))
  }

  @Test func `a reference to any type removes its entity and no other`() {
    store.set(One.Book(id: 1, title: "one"))
    store.set(Other.Book(id: 1, title: "other"))

    store.remove(AnyReference(Reference<One.Book>(1)))
    store.update { $0.remove(AnyReference(Reference<Thing>(1))) }

    #expect(store.get(Reference<One.Book>(1)) == nil)
    #expect(store.get(Reference<Other.Book>(1))?.title == "other")
  }

  @Test func `references to any type are equal by type and identity, however they print`() {
    let references: Set = [
      AnyReference(Reference<One.Book>(1)), AnyReference(Reference<Other.Book>(1)),
      AnyReference(Reference<One.Book>(1)), AnyReference(Reference<Masked>(Alike(number: 1))),
      AnyReference(Reference<Masked>(Alike(number: 2))),
    ]

    #expect(references.count == 4)
    #expect(AnyReference(Reference<Person>("p")).description == "Person p")
    #expect(Reference<Person>("p").description == "Person p")
  }

  /// A list of entities of several types.
  struct Favourites: Entity {
    let id: Int
    var items: [AnyReference]

    static let relations: [Relation<Favourites>] = [Relation(\.items)]
  }

  @Test func `references to any type are relations`() {
    let favourites = Favourites(
      id: 1, items: [AnyReference(Reference<Person>("p")), AnyReference(Reference<Thing>(1))])
    store.set(favourites)
    let recorder = Recorder<EntityChange<Favourites>>().subscribe(
      to: store.signal(of: favourites.reference))

    store.set(Person(id: "p", age: 1))
    store.set(Thing(1, "a"))
    store.set(Thing(2, "b"))
    store.prune()

    #expect(recorder.values.map(\.causes) == [[], [favourites.items[0]], [favourites.items[1]]])
    #expect(store.count == 3)
  }
}
