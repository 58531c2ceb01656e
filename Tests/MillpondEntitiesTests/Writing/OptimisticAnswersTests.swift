import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Optimistic writes beside answers of their requests and of sources, and beside ordered writes.
@Suite struct OptimisticAnswersTests {
  let store = EntityStore()
  let request = PublishSubject<Void>()
  let second = PublishSubject<Void>()
  let reference = Reference<Thing>(1)

  private var name: String? {
    store.get(reference)?.name
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
    #expect(store.isSettled)
  }

  @Test func `an answer does not replace a later write`() {
    let create = PublishSubject<Thing>()
    store.set(Thing(1, "draft"), confirmedBy: create.signal)
    store.set(Thing(1, "later"))

    create.next(Thing(1, "server's"))
    create.completed()

    #expect(name == "later")
    #expect(store.isSettled)
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
    #expect(store.isSettled)
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

  @Test func `a merge is undone with its write, below a later one too`() {
    store.set(Card(id: 1, numbers: [1]))
    store.set(Card(id: 1, numbers: [2]), confirmedBy: request.signal)
    request.failed(Refusal())
    #expect(store.get(Reference<Card>(1))?.numbers == [1])

    store.set(Card(id: 1, numbers: [3]), confirmedBy: second.signal)
    store.set(Card(id: 1, numbers: [4]))
    second.failed(Refusal())
    #expect(store.get(Reference<Card>(1))?.numbers == [1, 4])
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
    #expect(store.isSettled)
  }

  @Test func `an earlier write that arrives late is confirmed below the optimistic one`() {
    let earlier = Revision.next()
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)

    store.core.arrive(Reference(1), earlier, .set(Thing(1, "earlier")))
    #expect(name == "optimistic")
    request.failed(Refusal())

    #expect(name == "earlier")
    #expect(store.isSettled)
  }

  @Test func `a later write that arrives after the confirmation still wins`() {
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    let later = Revision.next()
    request.completed()

    store.core.arrive(Reference(1), later, .set(Thing(1, "later")))

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
    #expect(store.isSettled)
  }
}
