import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Optimistic writes whose outcome is disposed of, or whose store ends or is released.
@Suite struct OptimisticEndTests {
  let store = EntityStore()
  let request = PublishSubject<Void>()
  let second = PublishSubject<Void>()
  let reference = Reference<Thing>(1)

  private var name: String? {
    store.get(reference)?.name
  }

  // MARK: Leaving, ending

  @Test func `disposing of the outcome does not cancel the request`() {
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
    #expect(store.isSettled)
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
    #expect(store.isSettled)
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

  // MARK: Release

  @Test func `a value that is undone may read and write when it is released`() {
    let released = Locked<[String]>([])
    let store = store
    store.set(Loaded(id: 1, name: "old", onRelease: {}))
    store.set(
      Loaded(id: 1, name: "undone") {
        let name = store.get(Reference<Loaded>(1))?.name ?? "–"
        store.set(Thing(1, name))
        released.withLock { $0.append(name) }
      }, confirmedBy: request.signal)

    request.failed(Refusal())

    #expect(released.withLock { $0 } == ["old"])
    #expect(name == "old")
  }
}

/// An entity with an object that notices its release.
private struct Loaded: Entity {
  final class Load: Sendable {
    let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) {
      self.onRelease = onRelease
    }

    deinit {
      onRelease()
    }
  }

  let id: Int
  let name: String
  let load: Load

  init(id: Int, name: String, onRelease: @escaping @Sendable () -> Void) {
    (self.id, self.name, load) = (id, name, Load(onRelease))
  }

  static func == (left: Loaded, right: Loaded) -> Bool {
    left.id == right.id && left.name == right.name
  }
}
