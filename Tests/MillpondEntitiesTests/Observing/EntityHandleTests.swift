import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@Suite struct EntityHandleTests {
  let store = EntityStore()
  let reference = Reference<Thing>(1)

  @Test func `it has the value at once, and after every write`() {
    let handle = store.handle(to: reference)
    #expect(handle.value == nil)

    store.set(Thing(1, "a"))
    #expect(handle.value?.name == "a")

    store.update { things in
      things.set(Thing(1, "b"))
      #expect(handle.value?.name == "b")
    }
    store.remove(reference)
    #expect(handle.value == nil)
    #expect(handle.reference == reference)
  }

  @Test func `its changes are those of the entity and of what it refers to`() {
    store.set(Thing(1, "a", links: [2]))
    let handle = store.handle(to: reference)
    let recorder = Recorder<EntityChange<Thing>>().subscribe(to: handle.changes)

    store.set(Thing(1, "b", links: [2]))
    store.set(Thing(2, "c"))

    #expect(recorder.names == ["a", "b", "b"])
    #expect(recorder.causes == [[], [1], [2]])
    #expect(recorder.end == nil)
  }

  @Test func `its release completes its subscriptions, and no others`() {
    var handle: EntityHandle<Thing>? = store.handle(to: reference)
    let own = handle.map { Recorder<EntityChange<Thing>>().subscribe(to: $0.changes) }
    let other = store.recorder(of: 1)

    handle = nil
    store.set(Thing(1, "a"))

    #expect(own?.names == ["–"])
    #expect(own?.isCompleted == true)
    #expect(other.names == ["–", "a"])
    #expect(own?.violations.isEmpty == true)
  }

  @Test func `a subscription that leaves first is not completed`() {
    var handle: EntityHandle<Thing>? = store.handle(to: reference)
    let recorder = handle.map { Recorder<EntityChange<Thing>>().subscribe(to: $0.changes) }
    recorder?.dispose()

    handle = nil

    #expect(recorder?.end == nil)
    #expect(recorder?.violations.isEmpty == true)
  }

  @Test func `changes kept beyond the handle complete at once`() {
    let changes = store.handle(to: reference).changes

    let recorder = Recorder<EntityChange<Thing>>().subscribe(to: changes)

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a handle released in a callback of its changes completes after it`() {
    let holder = Locked<EntityHandle<Thing>?>(store.handle(to: reference))
    let recorder = Recorder<EntityChange<Thing>>()
    let changes = holder.withLock { $0?.changes } ?? .empty
    recorder.subscribe(to: changes) { event in
      if case .next(let change) = event, change.value != nil {
        let released = holder.withLock { $0.take() }
        _ = released
      }
    }

    store.set(Thing(1, "a"))
    store.set(Thing(1, "b"))

    #expect(recorder.names == ["–", "a"])
    #expect(recorder.isCompleted)
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an entity with a handle stays, with what it refers to, and goes after the release`() {
    store.set(Thing(1, links: [2]))
    store.set(Thing(2))
    store.set(Thing(3))
    var handle: EntityHandle<Thing>? = store.handle(to: reference)

    store.prune()
    let withHandle = store.count
    #expect(handle?.value != nil)
    handle = nil
    store.prune()

    #expect(withHandle == 2)
    #expect(store.count == 0)
  }

  @Test func `at the end of the store subscriptions fail, and the handle is the next user's`() {
    store.set(Thing(1, "former"))
    let handle = store.handle(to: reference)
    let recorder = Recorder<EntityChange<Thing>>().subscribe(to: handle.changes)

    store.end()
    let ended = handle.value
    store.set(Thing(1, "next"))

    #expect(recorder.names == ["former"])
    #expect(recorder.failure != nil)
    #expect(ended == nil)
    #expect(handle.value?.name == "next")
  }

  @Test func `a subscriber after the release of the store fails, after the last value`() {
    var store: EntityStore? = EntityStore()
    store?.set(Thing(1, "last"))
    let handle = store?.handle(to: reference)
    let changes = store?.signal(of: reference)
    let values = store?.query(Thing.self).values
    store = nil

    let fromHandle = handle.map { Recorder<EntityChange<Thing>>().subscribe(to: $0.changes) }
    let fromSignal = changes.map { Recorder<EntityChange<Thing>>().subscribe(to: $0) }
    let fromQuery = values.map { Recorder<[Thing]>().subscribe(to: $0) }

    #expect(handle?.value?.name == "last")
    for recorder in [fromHandle, fromSignal] {
      #expect(recorder?.names == ["last"])
      #expect(recorder?.failure is SignalError)
    }
    #expect(fromQuery?.failure is SignalError)
  }

  @Test(.heavy, arguments: 0..<4)
  func `handles that come and go while others write keep the contract`(seed: Int) async {
    let recorders = Locked<[Recorder<EntityChange<Thing>>]>([])
    await withTaskGroup { group in
      for thread in 0..<2 {
        group.addTask { [store] in
          for round in 0..<500 { store.set(Thing(1, "\(thread) \(round)")) }
        }
        group.addTask { [store, reference] in
          for _ in 0..<200 {
            let handle = store.handle(to: reference)
            let recorder = Recorder<EntityChange<Thing>>().subscribe(to: handle.changes)
            recorders.withLock { $0.append(recorder) }
          }
        }
      }
    }

    for recorder in recorders.withLock({ $0 }) {
      #expect(recorder.violations.isEmpty)
      #expect(recorder.isCompleted)
    }
  }
}
