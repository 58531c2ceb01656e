import MillpondCore
import MillpondEntities
import MillpondSignals
import Observation
import Synchronization
import Testing

@MainActor @Suite struct EntityStateTests {
  let store = EntityStore()

  @Test func `present values are there at once, and each change wakes their observers`() {
    store.set(Thing(1, "a"))
    let state = EntityState(Reference<Thing>(1), in: store)
    #expect(state.value?.name == "a")
    let woken = Mutex(0)
    withObservationTracking {
      _ = state.value
    } onChange: {
      woken.withLock { $0 += 1 }
    }

    store.set(Thing(1, "b"))

    #expect(state.value?.name == "b")
    #expect(state.causes == [AnyReference(Reference<Thing>(1))])
    #expect(woken.withLock { $0 } == 1)
  }

  @Test func `it says when the store has ended`() {
    let state = EntityState(Reference<Thing>(1), in: store)

    store.end()

    #expect(state.error != nil)
    #expect(state.value == nil)
  }

  @Test func `after the end of the session neither an entity nor a query is shown`() {
    store.set(Thing(1, "a"))
    let state = EntityState(Reference<Thing>(1), in: store)
    let query = SignalState(following: store.query(Thing.self).values)
    #expect(query.value?.count == 1)

    store.end()

    #expect(state.value == nil)
    #expect(state.causes.isEmpty)
    #expect(query.value == nil)
    #expect(query.error != nil)
  }
}
