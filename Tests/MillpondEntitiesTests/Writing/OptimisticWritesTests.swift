import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Writes that are visible at once, and confirmed or undone by the end of a request.
@Suite struct OptimisticWritesTests {
  let store = EntityStore()
  let request = PublishSubject<Void>()
  let second = PublishSubject<Void>()
  let reference = Reference<Thing>(1)

  private var name: String? {
    store.get(reference)?.name
  }

  /// Whether nothing of optimistic writes is left in the store.
  private var isSettled: Bool {
    store.core.tables.withLock { tables in
      let table = tables.table(Thing.self)
      return table.optimistic.isEmpty && table.optimisticWrites.isEmpty
        && tables.collection.retains.isEmpty
    } && store.core.withLock { $1.requests.isEmpty }
  }

  // MARK: One write

  @Test func `it is visible at once, and stays when the request completes`() {
    store.set(Thing(1, "old"))
    let recorder = store.recorder(of: 1)

    let outcome = Recorder<Void>().subscribe(
      to: store.set(Thing(1, "new"), confirmedBy: request.signal))
    #expect(name == "new")
    #expect(outcome.events.isEmpty)
    request.completed()

    #expect(name == "new")
    #expect(recorder.names == ["old", "new"])
    #expect(outcome.transcript == ["next ()", "completed"])
    #expect(isSettled)
  }

  @Test(arguments: [true, false])
  func `when the request fails, what was there before comes back`(wasStored: Bool) {
    if wasStored { store.set(Thing(1, "old", links: [2])) }
    let recorder = store.recorder(of: 1)

    let outcome = Recorder<Void>().subscribe(
      to: store.set(Thing(1, "new"), confirmedBy: request.signal))
    request.failed(Refusal())

    let old = wasStored ? "old" : "–"
    #expect(recorder.names == [old, "new", old])
    #expect(store.count == (wasStored ? 1 : 0))
    #expect(outcome.failure as? Refusal == Refusal())
    #expect(isSettled)
    store.set(Thing(2, "referred"))
    #expect(recorder.names.count == (wasStored ? 4 : 3))
  }

  @Test(arguments: [true, false])
  func `a removal is visible at once, and undone by a failure`(isConfirmed: Bool) {
    store.set(Thing(1, "old"))
    let recorder = store.recorder(of: 1)
    let list = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)

    store.remove(reference, confirmedBy: request.signal)
    #expect(name == nil)
    #expect(store.count == 0)
    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == (isConfirmed ? nil : "old"))
    #expect(recorder.names == (isConfirmed ? ["old", "–"] : ["old", "–", "old"]))
    #expect(list.values.map(\.count) == (isConfirmed ? [1, 0] : [1, 0, 1]))
    #expect(isSettled)
  }

  @Test func `an equal value is no change, and has its outcome`() {
    store.set(Thing(1, "old"))
    let recorder = store.recorder(of: 1)

    store.set(Thing(1, "old"), confirmedBy: request.signal)
    request.failed(Refusal())

    #expect(recorder.names == ["old"])
    #expect(isSettled)
  }

  @Test func `a request that ends at once has its effect when the call returns`() {
    let confirmed = store.set(Thing(1, "new"), confirmedBy: Signal<Void>.empty)
    let failed = store.set(Thing(1, "newer"), confirmedBy: Signal<Void>.fail(Refusal()))

    #expect(name == "new")
    #expect(Recorder<Void>().subscribe(to: confirmed).isCompleted)
    #expect(Recorder<Void>().subscribe(to: failed).failure is Refusal)
    #expect(isSettled)
  }

  @Test func `a request that nobody ends any more fails, and the write is undone`() {
    var lost: PublishSubject<Void>? = PublishSubject<Void>()
    let outcome = lost.map { store.set(Thing(1, "new"), confirmedBy: $0.signal) }
    #expect(name == "new")

    lost = nil

    #expect(name == nil)
    #expect(outcome.map { Recorder<Void>().subscribe(to: $0).failure is SignalError } == true)
  }

  @Test func `values and progress of the request are no outcome`() {
    let recorder = Recorder<Void>().subscribe(
      to: store.set(Thing(1, "new"), confirmedBy: request.signal))

    request.progress(SignalProgress(completed: 1, total: 2))
    request.next(())
    #expect(recorder.transcript == ["progress 1/2"])
    request.failed(Refusal())

    #expect(name == nil)
  }

  // MARK: Later writes

  @Test(arguments: [true, false])
  func `a later write stays, whatever becomes of the request`(isConfirmed: Bool) {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    store.set(Thing(1, "later"))
    let recorder = store.recorder(of: 1)

    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == "later")
    #expect(recorder.names == ["later"])
    #expect(isSettled)
  }

  @Test(arguments: [true, false])
  func `a later removal stays, whatever becomes of the request`(isConfirmed: Bool) {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    store.remove(reference)

    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == nil)
    #expect(isSettled)
  }

  @Test(arguments: ["type", "all"])
  func `a later removal of all removes what is visible and what is hidden`(range: String) {
    for id in 1...2 { store.set(Thing(id, "old")) }
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    store.remove(Reference<Thing>(2), confirmedBy: second.signal)

    if range == "type" { store.removeAll(of: Thing.self) } else { store.removeAll() }
    request.failed(Refusal())
    second.failed(Refusal())

    #expect(store.count == 0)
    #expect(isSettled)
  }

  @Test func `of two writes the second stays visible when the first fails, and then gives way`() {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)
    let recorder = store.recorder(of: 1)

    request.failed(Refusal())
    second.failed(Refusal())

    #expect(recorder.names == ["second", "old"])
    #expect(isSettled)
  }

  @Test func `when the second fails, the first is visible again`() {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)
    let recorder = store.recorder(of: 1)

    second.failed(Refusal())
    request.completed()

    #expect(recorder.names == ["second", "first"])
    #expect(isSettled)
  }

  @Test func `when the first is confirmed, it is what comes back`() {
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)

    request.completed()
    #expect(name == "second")
    second.failed(Refusal())

    #expect(name == "first")
    #expect(isSettled)
  }

  @Test(arguments: [true, false])
  func `a confirmed write replaces earlier ones that wait`(isConfirmed: Bool) {
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)

    second.completed()
    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == "second")
    #expect(isSettled)
  }

  // MARK: Answers

  @Test func `an answer replaces the value`() {
    let create = PublishSubject<Thing>()
    let recorder = store.recorder(of: 1)

    store.set(Thing(1, "draft"), confirmedBy: create.signal)
    create.next(Thing(1, "early"))
    create.next(Thing(1, "server's"))
    create.completed()

    #expect(recorder.names == ["–", "draft", "server's"])
    #expect(isSettled)
  }

  @Test func `an answer does not replace a later write`() {
    let create = PublishSubject<Thing>()
    store.set(Thing(1, "draft"), confirmedBy: create.signal)
    store.set(Thing(1, "later"))

    create.next(Thing(1, "server's"))
    create.completed()

    #expect(name == "later")
    #expect(isSettled)
  }

  @Test func `an answer below a later optimistic write is what comes back`() {
    let create = PublishSubject<Thing>()
    store.set(Thing(1, "draft"), confirmedBy: create.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)

    create.next(Thing(1, "server's"))
    create.completed()
    #expect(name == "second")
    second.failed(Refusal())

    #expect(name == "server's")
  }

  @Test func `an answer with another identity takes the place, in one commit`() {
    let create = PublishSubject<Thing>()
    store.set(Thing(-1, "draft"), confirmedBy: create.signal)
    let list = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)

    create.next(Thing(7, "server's"))
    create.completed()

    #expect(list.values.map { $0.map(\.id) } == [[-1], [7]])
    #expect(isSettled)
  }

  @Test func `a value before a failure is not stored`() {
    let create = PublishSubject<Thing>()
    store.set(Thing(1, "draft"), confirmedBy: create.signal)

    create.next(Thing(1, "server's"))
    create.failed(Refusal())

    #expect(name == nil)
  }

  @Test func `an answer that is known in part completes the value`() {
    let save = PublishSubject<Card>()
    store.set(Card(id: 1, numbers: [1]))
    store.set(Card(id: 1, numbers: [2]), confirmedBy: save.signal)
    #expect(store.get(Reference<Card>(1))?.numbers == [1, 2])

    save.next(Card(id: 1, numbers: [3]))
    save.completed()

    #expect(store.get(Reference<Card>(1))?.numbers == [1, 2, 3])
  }

  @Test func `a merge is undone with its write, and kept with a later one`() {
    store.set(Card(id: 1, numbers: [1]))
    store.set(Card(id: 1, numbers: [2]), confirmedBy: request.signal)
    request.failed(Refusal())
    #expect(store.get(Reference<Card>(1))?.numbers == [1])

    store.set(Card(id: 1, numbers: [3]), confirmedBy: second.signal)
    store.set(Card(id: 1, numbers: [4]))
    second.failed(Refusal())
    #expect(store.get(Reference<Card>(1))?.numbers == [1, 3, 4])
  }

  // MARK: Sources and ordered writes

  private let origin = PublishSubject<Thing>()

  private var cache: StoreBackedSource<AnyCache<Int, Thing>> {
    AnyCache<Int, Thing>(
      get: { [origin] _ in origin.signal }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) }
    ).through(store)
  }

  @Test func `an answer of a source does not hide the value, and is what comes back`() {
    store.set(Thing(1, "old"))
    let got = Recorder<Thing>().subscribe(to: cache.get(1))
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)

    origin.next(Thing(1, "answer"))
    #expect(name == "optimistic")
    request.failed(Refusal())

    #expect(name == "answer")
    #expect(got.values.map(\.name) == ["optimistic", "answer"])
  }

  @Test func `an answer to a request before the confirmation is not stored after it`() {
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    let got = Recorder<Thing>().subscribe(to: cache.get(1))
    request.completed()

    origin.next(Thing(1, "older"))

    #expect(name == "optimistic")
    #expect(got.values.map(\.name) == ["optimistic"])
  }

  @Test(arguments: [true, false])
  func `a write through a cache replaces an earlier optimistic one`(isConfirmed: Bool) {
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    cache.set(Thing(1, "later"), for: 1).subscribe()

    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == "later")
    #expect(isSettled)
  }

  @Test func `an earlier write that arrives late is confirmed below the optimistic one`() {
    let earlier = Revision.next()
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)

    store.core.set(Thing(1, "earlier"), earlier)
    #expect(name == "optimistic")
    request.failed(Refusal())

    #expect(name == "earlier")
    #expect(isSettled)
  }

  @Test func `a later write that arrives after the confirmation still wins`() {
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    let later = Revision.next()
    request.completed()

    store.core.set(Thing(1, "later"), later)

    #expect(name == "later")
  }

  @Test(arguments: [true, false])
  func `a removal of all that arrives late leaves later optimistic writes`(isLater: Bool) {
    store.set(Thing(1, "old"))
    let earlier = Revision.next()
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    store.remove(Reference<Thing>(1), confirmedBy: second.signal)

    store.core.removeAll(of: Thing.self, isLater ? Revision.next() : earlier)
    second.failed(Refusal())
    #expect(name == (isLater ? nil : "optimistic"))
    request.failed(Refusal())

    #expect(store.count == 0)
    #expect(isSettled)
  }

  // MARK: Transactions

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
    #expect(isSettled)
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
    #expect(isSettled)
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

    #expect(starts.withLock { $0 } == 0)
    #expect(store.count == 0)
    #expect(isSettled)
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
    #expect(isSettled)
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
    #expect(isSettled)
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
    #expect(isSettled)
  }

  @Test func `a removal of everything is undone as well`() {
    store.set(Thing(1, "one"))
    store.set(Person(id: "p", age: 1))

    store.update(confirmedBy: request.signal) { $0.removeAll() }
    #expect(store.count == 0)
    request.failed(Refusal())

    #expect(store.count == 2)
    #expect(isSettled)
  }

  // MARK: Leaving, ending

  @Test func `who leaves the outcome does not cancel the request`() {
    let outcome = Recorder<Void>().subscribe(
      to: store.set(Thing(1, "new"), confirmedBy: request.signal))

    outcome.dispose()
    request.failed(Refusal())

    #expect(name == nil)
  }

  @Test func `after the end of the store nothing comes back`() {
    store.set(Thing(1, "former"))
    store.remove(Reference<Thing>(1), confirmedBy: second.signal)
    let create = PublishSubject<Thing>()
    let outcome = Recorder<Void>().subscribe(
      to: store.set(Thing(2, "draft"), confirmedBy: create.signal))
    create.next(Thing(2, "server's"))

    store.end()
    create.completed()
    second.failed(Refusal())

    #expect(store.count == 0)
    #expect(outcome.failure is CacheError)
    #expect(isSettled)
    store.set(Thing(1, "next"), confirmedBy: request.signal)
    #expect(name == "next")
    request.completed()
    #expect(name == "next")
  }

  @Test func `a request that waits for a transaction does not start after the end of the store`() {
    let starts = Locked(0)
    let outcome = Locked<Signal<Void>>(.never)
    let recorder = Recorder<EntityChange<Thing>>()
    recorder.subscribe(to: store.signal(of: reference)) { [store] event in
      guard case .next(let change) = event, change.value?.name == "begin" else { return }
      // The request waits for the notices in progress, of which this is one.
      let result = store.set(
        Thing(2, "optimistic"),
        confirmedBy: Signal<Void>.deferred {
          starts.withLock { $0 += 1 }
          return .just(())
        })
      outcome.withLock { $0 = result }
      store.end()
    }

    store.set(Thing(1, "begin"))

    #expect(starts.withLock { $0 } == 0)
    #expect(Recorder<Void>().subscribe(to: outcome.withLock { $0 }).failure is CacheError)
    #expect(isSettled)
  }

  @Test func `the release of the store cancels no request`() {
    var store: EntityStore? = EntityStore()
    let outcome = store?.set(Thing(1, "new"), confirmedBy: request.signal)
    let recorder = outcome.map { Recorder<Void>().subscribe(to: $0) }

    store = nil
    #expect(recorder?.events.isEmpty == true)
    request.completed()

    #expect(recorder?.isCompleted == true)
  }

  // MARK: Eviction

  @Test func `while it waits, the entity stays, and what its values refer to`() {
    store.set(Thing(1, "old", links: [2]))
    store.set(Thing(2, "of the old one"))
    store.set(Thing(1, "first", links: [3]), confirmedBy: request.signal)
    store.set(Thing(3, "of the first"))
    store.set(Thing(1, "second", links: [4]), confirmedBy: second.signal)
    store.set(Thing(4, "of the second"))
    store.set(Thing(5, "of none"))

    store.prune()
    #expect(store.count == 4)
    second.failed(Refusal())
    store.prune()
    #expect(store.count == 3)
    request.failed(Refusal())
    #expect(store.get(reference)?.links.first.flatMap { store.get($0) }?.name == "of the old one")
    store.prune()

    #expect(store.count == 0)
    #expect(store.core.tables.withLock { $0.graph.nodes.count - $0.graph.vacantNodes.count } == 0)
  }

  @Test func `a removed entity that waits keeps what it refers to`() {
    store.set(Thing(1, "old", links: [2]))
    store.set(Thing(2, "referred"))
    store.remove(reference, confirmedBy: request.signal)

    store.prune()
    request.failed(Refusal())

    #expect(store.count == 2)
  }

  // MARK: Copies

  @Test func `a copy of the store sees only what is confirmed`() {
    store.set(Thing(1, "old"))
    let copy = Recorder<[TableEdit<Thing>]>().subscribe(to: store.edits(of: Thing.self))
    func names() -> [[String]] { copy.values.map { $0.map { $0.value?.name ?? "–" } } }

    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(2, "beside"), confirmedBy: second.signal)
    #expect(names() == [["old"]])
    let late = Recorder<[TableEdit<Thing>]>().subscribe(to: store.edits(of: Thing.self))
    request.completed()
    second.failed(Refusal())
    store.remove(reference, confirmedBy: Signal<Void>.empty)

    #expect(names() == [["old"], ["first"], ["–"]])
    #expect(late.values.first?.map { $0.value?.name } == ["old"])
  }

  @Test func `a copy made during a removal that waits has the entity`() {
    store.set(Thing(1, "old"))
    store.remove(reference, confirmedBy: request.signal)

    let copy = Recorder<[TableEdit<Thing>]>().subscribe(to: store.edits(of: Thing.self))
    request.completed()

    #expect(copy.values.map { $0.map { $0.value?.name } } == [["old"], [nil]])
  }

  @Test func `a former value that is restored below comes back`() {
    let token = FillToken()
    store.remove(reference, confirmedBy: request.signal)

    let isStored = store.restore(Thing(1, "restored"), token)
    #expect(isStored)
    #expect(name == nil)
    request.failed(Refusal())

    #expect(name == "restored")
  }
}
