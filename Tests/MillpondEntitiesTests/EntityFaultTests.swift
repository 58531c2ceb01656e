import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Faults that an entity store must survive.
@Suite struct EntityFaultTests {
  let store = EntityStore()

  @Test func `each observer of a cycle gets one notice`() {
    store.update { things in
      things.set(Thing(1, links: [2]))
      things.set(Thing(2, links: [3]))
      things.set(Thing(3, links: [1, 3]))
    }
    let recorders = (1...3).map { store.recorder(of: $0) }

    store.set(Thing(2, "new", links: [3]))

    for recorder in recorders { #expect(recorder.causes == [[], [2]]) }
  }

  @Test func `the top of a diamond gets one notice`() {
    store.set(Thing(1, links: [2, 3]))
    store.set(Thing(2, links: [4]))
    store.set(Thing(3, links: [4]))
    let top = store.recorder(of: 1)

    store.set(Thing(4, "new"))

    #expect(top.causes == [[], [4]])
  }

  @Test(.heavy)
  func `a chain of a hundred thousand entities does not overflow the stack, and is pruned as one`()
  {
    let length = 100_000
    store.update { things in
      for id in 0..<length { things.set(Thing(id, links: [id + 1])) }
    }
    let top = store.recorder(of: 0)

    store.set(Thing(length, "end"))
    store.prune()
    let kept = store.count
    top.dispose()
    store.prune()

    #expect(top.causes == [[], [length]])
    #expect(kept == length + 1)
    #expect(store.count == 0)
  }

  @Test(.heavy)
  func `a transaction that sets ten thousand linked entities notifies their observer once`() {
    let length = 10_000
    let top = store.recorder(of: 0)

    store.update { things in
      for id in 0..<length { things.set(Thing(id, links: [id + 1])) }
    }

    #expect(top.values.count == 2)
    #expect(top.values[1].causes.count == length)
  }

  @Test func `a set by an observer is visible at once, and announced after the present notice`() {
    let first = Recorder<EntityChange<Thing>>()
    let seen = Recorder<String>()
    let written = PublishSubject<String>()
    seen.subscribe(to: written.signal)
    first.subscribe(to: store.signal(of: Reference<Thing>(1))) { [store] event in
      guard case .next(let change) = event, change.value?.name == "a" else { return }
      store.set(Thing(1, "b"))
      written.next(store.get(Reference<Thing>(1))?.name ?? "–")
    }
    let second = store.recorder(of: 1)

    store.set(Thing(1, "a"))

    #expect(seen.values == ["b"])
    #expect(first.names == ["–", "a", "b"])
    #expect(second.names == ["–", "a", "b"])
    #expect(first.violations.isEmpty)
  }

  @Test func `an observer may dispose of others and itself`() {
    let last = store.recorder(of: 1)
    let victim = Recorder<EntityChange<Thing>>()
    let killer = Recorder<EntityChange<Thing>>()
    killer.subscribe(to: store.signal(of: Reference<Thing>(1))) { event in
      guard case .next(let change) = event, change.value != nil else { return }
      victim.dispose()
      killer.dispose()
    }
    victim.subscribe(to: store.signal(of: Reference<Thing>(1)))

    store.set(Thing(1, "a"))
    store.set(Thing(1, "b"))

    #expect(killer.names == ["–", "a"])
    #expect(victim.names == ["–"])
    #expect(last.names == ["–", "a", "b"])
  }

  @Test func `a transaction that throws changes nothing`() {
    store.set(Thing(1, "old"))
    let recorder = store.recorder(of: 1)

    #expect(throws: Refusal.self) {
      try store.update { things in
        things.set(Thing(1, "new"))
        things.remove(Reference<Thing>(1))
        things.set(Thing(2))
        throw Refusal()
      }
    }

    #expect(store.get(Reference<Thing>(1)) == Thing(1, "old"))
    #expect(store.get(Reference<Thing>(2)) == nil)
    #expect(recorder.names == ["old"])
  }

  @Test func `a set that waits for a transaction commits after it and wins`() async throws {
    let begun = PublishSubject<Void>()
    let store = store
    let setting = Recorder<Void>()
    setting.subscribe(
      to: begun.signal.flatMap { .async { store.set(Thing(1, "set")) } })

    store.update { things in
      begun.next(())  // the set waits until this is over, on another thread
      begun.completed()
      things.set(Thing(1, "transaction"))
    }
    try await setting.ended()

    #expect(store.get(Reference<Thing>(1))?.name == "set")
  }

  @Test func `a read during a transaction sees the former state, and does not wait`() {
    store.set(Thing(1, "old"))

    store.update { things in
      things.set(Thing(1, "new"))
      #expect(store.nameReadElsewhere(1) == "old")
      #expect(things.get(Reference<Thing>(1))?.name == "new")
    }

    #expect(store.nameReadElsewhere(1) == "new")
  }

  @Test func `the same identity of another type is another entity`() {
    store.set(One.Book(id: 1, title: "one"))
    store.set(Thing(1, "thing"))
    let thing = store.recorder(of: 1)

    store.remove(Reference<One.Book>(1))

    #expect(store.get(Reference<Thing>(1))?.name == "thing")
    #expect(thing.names == ["thing"])
    #expect(store.count == 1)
  }

  @Test func `an entity that is no longer referred to causes no notice`() {
    store.set(Thing(1, "a", links: [2, 3]))
    let top = store.recorder(of: 1)
    store.set(Thing(1, "b", links: [3]))

    store.set(Thing(2, "unrelated"))
    store.set(Thing(3, "related"))

    #expect(top.causes == [[], [1], [3]])
  }

  @Test
  func `a removal notifies the entity's observers and those of the entities that refer to it`() {
    store.set(Thing(1, links: [2]))
    store.set(Thing(2, "there"))
    let top = store.recorder(of: 1)
    let removed = store.recorder(of: 2)

    store.remove(Reference<Thing>(2))
    store.remove(Reference<Thing>(2))

    #expect(removed.names == ["there", "–"])
    #expect(top.causes == [[], [2]])
  }

  @Test func `a set of an equal value causes no notice`() {
    store.set(Thing(1, "a", links: [2]))
    let recorder = store.recorder(of: 1)

    store.set(Thing(1, "a", links: [2]))
    store.update { things in
      things.set(Thing(1, "b"))
      things.set(Thing(1, "a", links: [2]))
    }

    #expect(recorder.names == ["a"])
  }

  @Test func `types of the same name are distinct`() {
    store.set(One.Book(id: 1, title: "one"))
    store.set(Other.Book(id: 1, title: "other"))

    #expect("\(One.Book.self)" == "\(Other.Book.self)")
    #expect(store.get(Reference<One.Book>(1))?.title == "one")
    #expect(store.get(Reference<Other.Book>(1))?.title == "other")
    #expect(AnyReference(Reference<One.Book>(1)) != AnyReference(Reference<Other.Book>(1)))
  }

  @Test func `an observer that is disposed of during a notice gets no more`() {
    let recorder = Recorder<EntityChange<Thing>>()
    recorder.subscribe(to: store.signal(of: Reference<Thing>(1))) { [store] event in
      guard case .next(let change) = event, change.value?.name == "a" else { return }
      store.set(Thing(1, "b"))
      recorder.dispose()
      store.set(Thing(1, "c"))
    }

    store.set(Thing(1, "a"))

    #expect(recorder.names == ["–", "a"])
    #expect(store.get(Reference<Thing>(1))?.name == "c")
  }

  @Test func `relations that a transaction changes count in that transaction and after it`() {
    store.set(Thing(1, links: [2]))
    let top = store.recorder(of: 1)

    store.update { things in
      things.set(Thing(1, links: [3]))
      things.set(Thing(2, "no more"))
      things.set(Thing(3, "from now on", links: [4]))
    }
    store.set(Thing(2, "silent"))
    store.set(Thing(4, "heard"))

    #expect(top.causes == [[], [1, 3], [4]])
  }

  @Test func `identities that print alike are distinct`() {
    store.set(Masked(id: Alike(number: 1), name: "one"))
    store.set(Masked(id: Alike(number: 2), name: "two"))

    #expect(store.get(Reference<Masked>(Alike(number: 1)))?.name == "one")
    #expect(store.get(Reference<Masked>(Alike(number: 2)))?.name == "two")
  }

  @Test func `a nested transaction is part of the outer one`() {
    let recorder = store.recorder(of: 1)

    store.update { things in
      things.set(Thing(1, "a"))
      store.update { $0.set(Thing(1, "b")) }
      store.set(Thing(2))
      #expect(recorder.names == ["–"])
    }

    #expect(recorder.names == ["–", "b"])
    #expect(recorder.causes == [[], [1]])
    #expect(store.count == 2)
  }

  @Test func `a nested transaction that throws undoes its own changes only`() {
    store.update { things in
      things.set(Thing(1, "outer"))
      try? store.update { things in
        things.set(Thing(1, "inner"))
        things.set(Thing(2))
        throw Refusal()
      }
      #expect(things.get(Reference<Thing>(1))?.name == "outer")
    }

    #expect(store.get(Reference<Thing>(1))?.name == "outer")
    #expect(store.get(Reference<Thing>(2)) == nil)
  }

  @Test func `a nested transaction that throws may have been the first to use a type`() {
    store.update { things in
      try? store.update { things in
        things.set(Thing(1))
        things.set(Person(id: "a"))
        throw Refusal()
      }
      things.set(Thing(2))
      try? store.update { things in
        things.set(Person(id: "b"))
        throw Refusal()
      }
    }

    #expect(store.count == 1)
  }
}
