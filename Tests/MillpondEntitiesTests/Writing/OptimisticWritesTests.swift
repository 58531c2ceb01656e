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
    #expect(store.isSettled)
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
    #expect(store.isSettled)
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
    #expect(store.isSettled)
  }

  @Test func `an equal value is no change, and has its outcome`() {
    store.set(Thing(1, "old"))
    let recorder = store.recorder(of: 1)

    store.set(Thing(1, "old"), confirmedBy: request.signal)
    request.failed(Refusal())

    #expect(recorder.names == ["old"])
    #expect(store.isSettled)
  }

  @Test func `a request that ends at once has its effect when the call returns`() {
    let confirmed = store.set(Thing(1, "new"), confirmedBy: Signal<Void>.empty)
    let failed = store.set(Thing(1, "newer"), confirmedBy: Signal<Void>.fail(Refusal()))

    #expect(name == "new")
    #expect(Recorder<Void>().subscribe(to: confirmed).isCompleted)
    #expect(Recorder<Void>().subscribe(to: failed).failure is Refusal)
    #expect(store.isSettled)
  }

  @Test func `a request without a live owner fails, and the write is undone`() {
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
    #expect(store.isSettled)
  }

  @Test(arguments: [true, false])
  func `a later removal stays, whatever becomes of the request`(isConfirmed: Bool) {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "optimistic"), confirmedBy: request.signal)
    store.remove(reference)

    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == nil)
    #expect(store.isSettled)
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
    #expect(store.isSettled)
  }

  @Test func `of two writes the second stays visible when the first fails, and then gives way`() {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)
    let recorder = store.recorder(of: 1)

    request.failed(Refusal())
    second.failed(Refusal())

    #expect(recorder.names == ["second", "old"])
    #expect(store.isSettled)
  }

  @Test func `when the second fails, the first is visible again`() {
    store.set(Thing(1, "old"))
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)
    let recorder = store.recorder(of: 1)

    second.failed(Refusal())
    request.completed()

    #expect(recorder.names == ["second", "first"])
    #expect(store.isSettled)
  }

  @Test func `when the first is confirmed, it is what comes back`() {
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)

    request.completed()
    #expect(name == "second")
    second.failed(Refusal())

    #expect(name == "first")
    #expect(store.isSettled)
  }

  @Test(arguments: [true, false])
  func `a confirmed write replaces earlier ones that wait`(isConfirmed: Bool) {
    store.set(Thing(1, "first"), confirmedBy: request.signal)
    store.set(Thing(1, "second"), confirmedBy: second.signal)

    second.completed()
    if isConfirmed { request.completed() } else { request.failed(Refusal()) }

    #expect(name == "second")
    #expect(store.isSettled)
  }
}

extension EntityStore {
  /// Whether nothing of optimistic writes is left.
  var isSettled: Bool {
    core.tables.withLock { tables in
      let table = tables.table(Thing.self)
      return table.optimistic.isEmpty && table.optimisticWrites.isEmpty
        && tables.retains.isEmpty
    }
  }
}
