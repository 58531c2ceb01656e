import Dispatch
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Observers that are notified where they want.
@Suite struct EntityDeliveryTests {
  let store = EntityStore()
  let queue = DispatchQueue(label: "observers")
  let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: key, value: true)
  }

  private func isOnQueue() -> Bool {
    DispatchQueue.getSpecific(key: key) == true
  }

  @Test func `entities, queries and handles notify on a queue, in order`() async throws {
    let handle = store.handle(to: Reference<Thing>(1))
    let changes = Recorder<EntityChange<Thing>>()
    let held = Recorder<EntityChange<Thing>>()
    let list = Recorder<[Thing]>()
    let places = Locked<[Bool]>([])
    let note: @Sendable () -> Void = { [self] in
      let isThere = isOnQueue()
      places.withLock { $0.append(isThere) }
    }
    changes.subscribe(to: store.signal(of: Reference<Thing>(1)).receive(on: queue)) { _ in note() }
    held.subscribe(to: handle.changes.receive(on: queue)) { _ in note() }
    list.subscribe(to: store.query(Thing.self).values.receive(on: queue)) { _ in note() }

    for round in 1...50 { store.set(Thing(1, "\(round)")) }
    let names = try await changes.values(count: 51).map { $0.value?.name ?? "–" }
    let heldNames = try await held.values(count: 51).map { $0.value?.name ?? "–" }
    let lists = try await list.values(count: 51)

    #expect(names == ["–"] + (1...50).map { "\($0)" })
    #expect(heldNames == names)
    #expect(lists.map { $0.first?.name ?? "–" } == names)
    #expect(!places.withLock { $0 }.contains(false))
  }

  @MainActor @Test func `on the main actor the first value is there at once`() {
    store.set(Thing(1, "a"))
    let names = Locked<[String]>([])

    let subscription = store.query(Thing.self).values.subscribeOnMain(onNext: { things in
      MainActor.assertIsolated()
      let shown = things.map(\.name).joined()
      names.withLock { $0.append(shown) }
    })
    store.set(Thing(2, "b"))

    #expect(names.withLock { $0 } == ["a", "ab"])
    subscription.dispose()
  }

  @Test func `a subscriber that waits too long fails, and the writer does not wait for it`()
    async throws
  {
    queue.suspend()
    let recorder = Recorder<EntityChange<Thing>>().subscribe(
      to: store.signal(of: Reference<Thing>(1)).receive(on: queue, limit: 10))

    for round in 1...20 { store.set(Thing(1, "\(round)")) }
    queue.resume()
    try await recorder.ended()

    #expect(recorder.values.count == 10)
    #expect(recorder.failure is SignalError)
  }

  @Test func `after a dispose nothing more arrives on the queue`() {
    let recorder = Recorder<EntityChange<Thing>>().subscribe(
      to: store.signal(of: Reference<Thing>(1)).receive(on: queue))
    queue.sync {}
    queue.suspend()
    store.set(Thing(1, "a"))

    recorder.dispose()
    queue.resume()
    queue.sync {}

    #expect(recorder.names == ["–"])
  }
}
