import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// The bookkeeping of a store besides its entities.
@Suite struct EntityTablesTests {
  let store = EntityStore()

  private var nodes: (known: Int, places: Int) {
    store.core.tables.withLock { tables in
      (tables.graph.nodes.count - tables.graph.vacantNodes.count, tables.graph.nodes.count)
    }
  }

  private var rows: Int {
    store.core.tables.withLock { $0.table(Thing.self).rows.count }
  }

  @Test func `an entity that is not stored, referred to, observed or retained takes up no room`() {
    store.set(Thing(1, links: [2]))
    let (observer, retained) = (store.recorder(of: 3), store.retain(Reference<Thing>(4)))
    let known = nodes.known
    observer.dispose()
    retained.dispose()
    store.set(Thing(1))
    store.set(Thing(5, links: [6]))
    store.remove(Reference<Thing>(5))

    #expect(known == 4)
    #expect(nodes.known == 1)
  }

  @Test func `an entity that was watched is not marked for ever`() {
    for id in 0..<100 { store.set(Thing(id, links: [id + 1])) }
    for id in 0..<100 { store.recorder(of: id).dispose() }

    #expect(store.core.tables.withLock { $0.graph.markedCount } == 0)
  }

  @Test(arguments: 0..<5)
  func `when any observer leaves, the others receive the changes of what they observe`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    for id in 0..<20 { store.set(Thing(id, links: [id + 100])) }
    var observers = (0..<20).map { (id: $0, recorder: store.recorder(of: $0)) }
    while !observers.isEmpty {
      observers.remove(at: Int.random(in: observers.indices, using: &random)).recorder.dispose()
      for (id, _) in observers { store.set(Thing(id + 100, "\(observers.count)")) }
      for (id, recorder) in observers {
        #expect(recorder.causes.count == 21 - observers.count, "observer of \(id)")
      }
    }
  }

  // MARK: Memory that is given back

  @Test func `when most entries are removed memory is returned, and the others stay as they were`()
  {
    let count = 10_000
    store.update { things in
      for id in 0..<count { things.set(Thing(id, links: [id + count])) }
    }
    let kept = stride(from: 0, to: count, by: 1_000).map { id in
      (id: id, recorder: store.recorder(of: id), retained: store.retain(Reference<Thing>(id + 7)))
    }
    let places = nodes.places

    store.prune()

    #expect(places == 2 * count)
    #expect(nodes.known == 40)
    #expect(rows == 40)
    #expect(store.count == 20)
    for (id, recorder, retained) in kept {
      store.set(Thing(id + count, "new"))
      #expect(recorder.causes == [[], [id + count]])
      retained.dispose()
      recorder.dispose()
    }
    store.prune()
    #expect(nodes.known == 0)
  }

  @Test func `all memory is returned when all entries are removed`() {
    for id in 0..<3_000 { store.set(Thing(id, links: [id + 1, id + 2])) }
    store.removeAll()

    let edges = store.core.tables.withLock { $0.graph.edges.count }
    #expect(nodes.places == 0)
    #expect(edges == 0)
    #expect(rows == 0)
  }

  @Test func `of two halves, that in use stays, and the other is dropped`() {
    store.update { things in
      for id in 0..<20_000 { things.set(Thing(id, links: id % 2 == 0 ? [id + 2] : [])) }
    }
    let recorder = store.recorder(of: 0)

    store.prune()

    #expect(store.count == 10_000)
    #expect(recorder.causes == [[]])
  }
}
