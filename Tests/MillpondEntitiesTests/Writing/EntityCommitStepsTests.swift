import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Large commits: visible at once, applied in steps, with observers coming and going in between.
@Suite struct EntityCommitStepsTests {
  private let store = EntityStore()
  private static let count = 5_000

  init() {
    store.update { things in
      for id in 0..<Self.count { things.set(Thing(id, "old", links: [id + 1])) }
    }
  }

  /// Sets all things that are not removed, and a new one, with `body` running between the steps.
  private func update(
    removing removed: Range<Int> = 0..<0, _ body: @escaping (_ step: Int) -> Void
  ) {
    var step = 0
    store.core.onStep = {
      body(step)
      step += 1
    }
    store.update { things in
      for id in 0...Self.count where !removed.contains(id) {
        things.set(Thing(id, "new", links: [id + 2]))
      }
      for id in removed { things.remove(Reference<Thing>(id)) }
    }
    store.core.onStep = nil
    #expect(step > Self.count / Commit.stepSize)
  }

  private func name(_ id: Int) -> String? {
    store.get(Reference<Thing>(id))?.name
  }

  private var longestStep: Int {
    store.core.tables.withLock { $0.longestStep }
  }

  @Test func `between the steps every reader sees the new state, and the new count`() {
    var sights: Set<[String?]> = []
    var counts: Set<Int> = []

    update(removing: 100..<200) { [self] _ in
      sights.insert([name(0), name(150), name(2_500), name(Self.count)])
      counts.insert(store.count)
    }

    #expect(sights == [["new", nil, "new", "new"]])
    #expect(counts == [Self.count - 99])
    #expect(longestStep == Commit.stepSize && longestStep <= 256)
  }

  @Test func `before it is committed no other thread sees anything of an update`() {
    store.update { things in
      for id in 0..<Self.count { things.set(Thing(id, "new")) }
      #expect(store.core.tables.withLock { $0.table(Thing.self).committed == nil })
    }

    #expect(store.core.tables.withLock { $0.table(Thing.self).committed == nil })
    #expect(name(0) == "new" && store.count == Self.count)
  }

  @Test func `an observer from between the steps begins with the new state, and receives it once`()
  {
    var observers: [Recorder<EntityChange<Thing>>] = []
    let early = store.recorder(of: 10)

    update(removing: 100..<200) { [self] step in
      if step == 0 { observers = [10, 150, 4_000, Self.count].map { store.recorder(of: $0) } }
    }

    #expect(observers.map(\.names) == [["new"], ["–"], ["new"], ["new"]])
    #expect(early.names == ["old", "new"])
    store.set(Thing(12, "newer"))
    #expect(observers[0].names == ["new", "new"] && observers[0].causes.last == [12])
  }

  @Test func `an observer that leaves between the steps hears nothing, and the others hear it`() {
    let (leaving, staying) = (store.recorder(of: 4_000), store.recorder(of: 4_001))

    update { step in if step == 1 { leaving.dispose() } }

    #expect(leaving.names == ["old"] && staying.names == ["old", "new"])
    #expect(store.core.tables.withLock { $0.graph.nodes.filter(\.isWatched).count } == 1)
  }

  @Test func `a query that begins between the steps begins with the new state`() {
    let recorder = Recorder<[Thing]>()
    let early = Recorder<[Thing]>().subscribe(to: store.query(Thing.self).values)

    update(removing: 100..<200) { [self] step in
      if step == 3 { recorder.subscribe(to: store.query(Thing.self).values) }
    }

    #expect(recorder.values.count == 1)
    let names = Set(recorder.values[0].map(\.name))
    let ids = Set(recorder.values[0].map(\.id))
    #expect(names == ["new"] && ids == Set(0...Self.count).subtracting(100..<200))
    #expect(early.values.map(\.count) == [Self.count, Self.count - 99])
  }

  @Test func `an older write that arrives between the steps changes nothing`() {
    let older = Revision.next()

    update { [self] step in
      guard step == 2 else { return }
      let isAdmitted = store.core.admits(
        { table in [0, 4_000].map { table.admits(older, for: $0) } == [true, true] }, Thing.self)
      #expect(!isAdmitted)
    }

    #expect(name(0) == "new" && name(4_000) == "new")
  }

  @Test func `an entity retained and released between the steps is kept as the update says`() {
    update(removing: 100..<200) { [self] step in
      for id in [50, 150, Self.count, Self.count + 5] {
        store.retain(Reference<Thing>(id)).dispose()
      }
      _ = step
    }

    #expect(name(50) == "new" && name(150) == nil && name(Self.count) == "new")
    store.prune()
    #expect(store.count == 0)
    let nodes = store.core.tables.withLock { $0.graph.nodes.count - $0.graph.vacantNodes.count }
    #expect(nodes == 0)
  }

  @Test func `a removal of everything is done in steps, and gives the tables back`() {
    var counts: Set<Int> = []
    store.core.onStep = { [store] in counts.insert(store.count) }

    store.removeAll()

    store.core.onStep = nil
    #expect(counts == [0] && name(0) == nil)
    #expect(longestStep == Commit.stepSize)
    let (rows, nodes) = store.core.tables.withLock { tables in
      (tables.table(Thing.self).rows.count, tables.graph.nodes.count)
    }
    #expect(rows == 0 && nodes == 0)
    store.set(Thing(1, "again"))
    #expect(name(1) == "again" && store.count == 1)
  }

  @Test func `a reader on another thread sees all of an update, or nothing`() async {
    let isOver = Locked(false)
    let store = store
    let mixed = Task.detached {
      var mixed = 0
      while !isOver.withLock({ $0 }) {
        let first = store.get(Reference<Thing>(Self.count - 1))?.name ?? ""
        let second = store.get(Reference<Thing>(0))?.name ?? ""
        if second < first { mixed += 1 }
      }
      return mixed
    }

    for round in 0..<10 {
      store.update { things in
        for id in 0..<Self.count { things.set(Thing(id, "p\(round)")) }
      }
    }
    isOver.withLock { $0 = true }

    #expect(await mixed.value == 0)
  }
}
