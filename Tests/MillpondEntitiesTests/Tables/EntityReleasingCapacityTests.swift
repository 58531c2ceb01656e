import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// The return of memory after large removals: in steps, between which others read and observe.
@Suite struct EntityReleasingCapacityTests {
  private let store = EntityStore()
  private static let count = 10_000
  private static let kept = stride(from: 0, to: count, by: 16)

  /// Each thing links to the next that is kept, and to one that is not stored.
  init() {
    store.update { things in
      for id in 0..<Self.count {
        things.set(Thing(id, "\(id)", links: [(id / 16 + 1) * 16, -1 - id]))
      }
    }
  }

  private func removeMost(_ body: @escaping (_ step: Int) -> Void = { _ in }) {
    var step = 0
    store.core.onStep = {
      body(step)
      step += 1
    }
    store.update { things in
      for id in 0..<Self.count where !id.isMultiple(of: 16) { things.remove(Reference<Thing>(id)) }
    }
    store.core.onStep = nil
  }

  private var sizes: (rows: Int, nodes: Int, edges: Int) {
    store.core.tables.withLock { tables in
      (tables.table(Thing.self).rows.count, tables.graph.nodes.count, tables.graph.edges.count)
    }
  }

  @Test func `no step gives up more than a few hundred rows and nodes, and few are left`() {
    var former = sizes
    var (rows, nodes) = (0, 0)

    removeMost { [self] _ in
      rows = max(rows, former.rows - sizes.rows)
      nodes = max(nodes, former.nodes - sizes.nodes)
      former = sizes
    }

    #expect((1...Commit.stepSize).contains(rows) && (1...Commit.stepSize).contains(nodes))
    let keptCount = Self.kept.underestimatedCount
    // Kept ones, the ones they link to that are not stored, and the end of the chain.
    #expect(sizes.rows == 2 * keptCount + 1 && sizes.nodes == sizes.rows)
    #expect(sizes.edges == 2 * keptCount)
    #expect(store.core.flaw == nil)
  }

  @Test func `between the steps everything is found, and nothing else`() {
    var flaws: Set<String?> = []

    removeMost { [self] _ in
      let found = Self.kept.allSatisfy { store.get(Reference<Thing>($0))?.name == "\($0)" }
      let isGone = store.get(Reference<Thing>(7)) == nil && store.count == Self.count / 16
      if !found || !isGone { flaws.insert("not found, or not gone") }
      flaws.insert(store.core.rowFlaw)
    }

    #expect(flaws == [nil])
  }

  @Test func `observers hear what lies below them after everything has moved`() {
    let chain = store.recorder(of: 0)
    let recorders = [16, 4_000, 9_600].map { ($0, store.recorder(of: $0)) }

    removeMost()
    let last = Self.count / 16 * 16 - 16
    store.set(Thing(last, "new", links: [-1]))

    #expect(chain.names == ["0", "0"] && chain.causes.last == [last])
    #expect(recorders.allSatisfy { $0.1.causes == [[], [last]] })
    store.set(Thing(-1 - 16, "absent until now"))
    #expect(chain.causes.last == [-17] && chain.values.count == 3)
    #expect(store.core.flaw == nil)
  }

  @Test func `entities that come into use between the steps stay, and nothing is left of others`() {
    var recorders: [(id: Int, recorder: Recorder<EntityChange<Thing>>)] = []
    let last = Self.count / 16 * 16 - 16

    removeMost { [self] step in
      let id = step % (Self.count / 16) * 16
      recorders.append((id, store.recorder(of: id)))
      // Entities that are not stored, whose nodes are needed for a moment only.
      store.recorder(of: -100_000 - step).dispose()
      store.retain(Reference<Thing>(-200_000 - step)).dispose()
      recorders.append((-300_000 - step, store.recorder(of: -300_000 - step)))
    }

    #expect(store.core.flaw == nil)
    store.set(Thing(last, "new", links: []))
    for (id, recorder) in recorders where id >= 0 {
      #expect(recorder.causes == [[], [last]], "\(id)")
    }
    for (id, recorder) in recorders where id < 0 {
      store.set(Thing(id, "new"))
      #expect(recorder.names == ["–", "new"], "\(id)")
    }
    for (_, recorder) in recorders { recorder.dispose() }
    store.removeAll()
    #expect(store.core.tables.withLock { $0.graph.nodes.count - $0.graph.vacantNodes.count } == 0)
  }

  @Test func `a list at a depth that begins between the steps hears what its entities refer to`() {
    let list = Recorder<[EntityListChange<Thing>]>()
    var hasBegun = false

    removeMost { [store] _ in
      if hasBegun || !store.core.tables.withLock({ $0.graph.isWalked }) { return }
      hasBegun = true
      list.subscribe(to: store.query(Thing.self, depth: 1).changes)
    }
    store.set(Thing(160, "new", links: []))

    #expect(hasBegun && list.values.count == 2 && list.values.last?.count == 2)
  }

  @Test func `a store that is filled and emptied again and again keeps nothing`() {
    for round in 0..<5 {
      removeMost()
      store.update { things in
        for id in 0..<Self.count { things.set(Thing(id, "\(round)", links: [(id / 16 + 1) * 16])) }
      }
      #expect(store.count == Self.count && store.core.flaw == nil)
    }
    store.removeAll()
    #expect(sizes == (0, 0, 0))
  }
}

extension EntityCore {
  /// Returns a violated invariant of the tables and their graph; nil if there is none.
  fileprivate var flaw: String? {
    rowFlaw
      ?? tables.withLock { tables in
        for (number, node) in tables.graph.nodes.enumerated()
        where node.table != ReferenceGraph.none {
          var next = node.firstOut
          while next != ReferenceGraph.none {
            let edge = tables.graph.edges[Int(next)]
            if edge.source != NodeNumber(number) { return "an edge of another node" }
            if tables.graph.nodes[Int(edge.target)].table == ReferenceGraph.none {
              return "a dead target"
            }
            next = edge.nextOut
          }
        }
        return nil
      }
  }

  /// Returns a row that is not found, or that does not belong to its node; nil if there is none.
  fileprivate var rowFlaw: String? {
    tables.withLock { tables in
      let table = tables.table(Thing.self)
      for (place, row) in table.rows.enumerated() {
        guard let id = row.id else { continue }
        if table.row(of: id) != Int32(place) { return "row \(place) is not found" }
        let node = tables.graph.nodes[Int(row.node)]
        if node.row != Int32(place) || node.table != table.number { return "another's node" }
      }
      return nil
    }
  }
}
