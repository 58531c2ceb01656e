import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Transactions that are undone as a whole, and writes inside transactions.
@Suite struct OptimisticTransactionTests {
  let store = EntityStore()
  let request = PublishSubject<Void>()
  let second = PublishSubject<Void>()
  let reference = Reference<Thing>(1)

  private var name: String? {
    store.get(reference)?.name
  }

  @Test func `a transaction is undone as a whole, in one notice`() {
    store.set(Thing(1, "one", links: [2]))
    store.set(Thing(2, "two"))
    store.set(Person(id: "p", age: 1))
    let recorder = store.recorder(of: 1)

    store.update(confirmedBy: request.signal) { entities in
      entities.set(Thing(1, "new one", links: [2]))
      entities.remove(Reference<Thing>(2))
      entities.set(Person(id: "p", age: 2))
      entities.set(Thing(3, "three"))
    }
    #expect(store.count == 3)
    request.failed(Refusal())

    #expect(recorder.names == ["one", "new one", "one"])
    #expect(recorder.causes == [[], [1, 2], [1, 2]])
    #expect(store.get(Reference<Person>("p"))?.age == 1)
    #expect(store.get(Reference<Thing>(2))?.name == "two")
    #expect(store.count == 3)
    #expect(store.isSettled)
  }

  @Test func `of a transaction that is undone, later writes of single entities stay`() {
    for id in 1...2 { store.set(Thing(id, "old")) }
    store.update(confirmedBy: request.signal) { things in
      for id in 1...2 { things.set(Thing(id, "optimistic")) }
    }
    store.set(Thing(1, "later"))

    request.failed(Refusal())

    #expect(store.get([1, 2].map { Reference<Thing>($0) }).map(\.name) == ["later", "old"])
  }

  @Test func `several writes of one entity in a transaction are one`() {
    store.set(Thing(1, "old"))
    store.update(confirmedBy: request.signal) { things in
      things.set(Thing(1, "a"))
      things.remove(reference)
      #expect(things.get(reference) == nil)
      things.set(Thing(1, "b"))
    }
    #expect(name == "b")

    request.failed(Refusal())

    #expect(name == "old")
    #expect(store.isSettled)
  }

  @Test func `a transaction that throws sends no request, and changes nothing`() {
    let starts = Locked(0)
    let request = Signal<Void>.deferred {
      starts.withLock { $0 += 1 }
      return .just(())
    }

    #expect(throws: Refusal.self) {
      try store.update(confirmedBy: request) { things throws(Refusal) in
        things.set(Thing(1, "a"))
        throw Refusal()
      }
    }
    try? store.update { things throws(Refusal) in
      store.set(Thing(1, "b"), confirmedBy: request)
      throw Refusal()
    }

    store.update { _ in
      try? store.update { _ throws(Refusal) in
        store.set(Thing(1, "c"), confirmedBy: request)
        throw Refusal()
      }
    }

    #expect(starts.withLock { $0 } == 0)
    #expect(store.count == 0)
    #expect(store.isSettled)
  }

  @Test func `the outcome of a write whose transaction throws fails`() {
    var outcome: Signal<Void> = .never
    try? store.update { things throws(Refusal) in
      outcome = store.set(Thing(1, "b"), confirmedBy: request.signal)
      throw Refusal()
    }

    #expect(Recorder<Void>().subscribe(to: outcome).failure is SignalError)
  }

  @Test func `inside a transaction the request starts after the commit`() {
    let seen = Locked<[String?]>([])
    store.update { things in
      store.set(
        Thing(1, "optimistic"),
        confirmedBy: Signal<Void>.deferred { [store, reference] in
          let name = store.get(reference)?.name
          seen.withLock { $0.append(name) }
          return .fail(Refusal())
        })
      things.set(Thing(2, "beside"))
      #expect(name == "optimistic")
      #expect(seen.withLock { $0 }.isEmpty)
    }

    #expect(seen.withLock { $0 } == ["optimistic"])
    #expect(name == nil)
    #expect(store.get(Reference<Thing>(2))?.name == "beside")
    #expect(store.isSettled)
  }

  @Test func `an outcome that comes inside a transaction is not undone with it`() {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)

    try? store.update { things throws(Refusal) in
      things.set(Thing(2, "undone"))
      request.failed(Refusal())
      #expect(name == "optimistic")
      throw Refusal()
    }

    #expect(name == "old")
    #expect(store.isSettled)
  }

  @Test func `a large transaction is undone as a whole`() {
    let count = 3_000
    store.update { things in
      for id in 0..<count { things.set(Thing(id, "old", links: [id + 1])) }
    }
    let list = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)
    let copy = Recorder<[TableEdit<Thing>]>().subscribe(to: store.edits(of: Thing.self))

    store.update(confirmedBy: request.signal) { things in
      for id in 0..<count { things.set(Thing(id, "new", links: [id + 2])) }
      things.removeAll(of: Thing.self)
      things.set(Thing(0, "only"))
    }
    #expect(store.count == 1)
    request.failed(Refusal())

    #expect(list.values.map(\.count) == [count, 1, count])
    #expect(list.values.last?.allSatisfy { $0.name == "old" } == true)
    #expect(copy.values.count == 1)
    #expect(store.isSettled)
  }

  @Test func `a removal of everything is undone as well`() {
    store.set(Thing(1, "one"))
    store.set(Person(id: "p", age: 1))

    store.update(confirmedBy: request.signal) { $0.removeAll() }
    #expect(store.count == 0)
    request.failed(Refusal())

    #expect(store.count == 2)
    #expect(store.isSettled)
  }
}
