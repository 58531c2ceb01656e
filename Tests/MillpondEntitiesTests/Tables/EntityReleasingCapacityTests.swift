import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// The return of memory after large removals.
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

  private func removeMost() {
    store.update { things in
      for id in 0..<Self.count where !id.isMultiple(of: 16) { things.remove(Reference<Thing>(id)) }
    }
  }

  private var sizes: (rows: Int, nodes: Int, edges: Int) {
    store.core.tables.withLock { tables in
      (tables.table(Thing.self).rows.count, tables.graph.nodes.count, tables.graph.edges.count)
    }
  }

  @Test func `few rows, nodes and edges are left, in which everything is found, and nothing else`()
  {
    removeMost()

    let keptCount = Self.kept.underestimatedCount
    // Kept ones, the ones they link to that are not stored, and the end of the chain.
    #expect(sizes.rows == 2 * keptCount + 1 && sizes.nodes == sizes.rows)
    #expect(sizes.edges == 2 * keptCount)
    #expect(Self.kept.allSatisfy { store.get(Reference<Thing>($0))?.name == "\($0)" })
    #expect(store.get(Reference<Thing>(7)) == nil && store.count == keptCount)
    #expect(store.core.flaw == nil)
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

  @Test func `handles and observers keep their entities when the nodes of these have moved`() {
    let ids = [9_600, 9_601, -9_601]
    let handles = ids.map { store.retain(Reference<Thing>($0)) }
    let recorders = ids.map { store.recorder(of: $0) }
    let places = sizes.nodes

    removeMost()
    store.prune()

    #expect(sizes.nodes < places / 4)
    #expect(store.get(Reference<Thing>(9_600)) != nil && store.core.flaw == nil)
    for (id, recorder) in zip(ids, recorders) {
      store.set(Thing(id, "new"))
      #expect(recorder.names.last == "new", "\(id)")
      recorder.dispose()
      store.set(Thing(id, "newer"))
      #expect(recorder.names.last == "new", "\(id)")
    }
    store.prune()
    #expect(store.count == 3)
    for handle in handles { handle.dispose() }
    store.prune()
    #expect(store.core.tables.withLock { $0.graph.nodes.count - $0.graph.vacantNodes.count } == 0)
    #expect(store.core.tables.withLock { $0.watches.isEmpty && $0.retains.isEmpty })
  }

  @Test func `an optimistic write is undone when the nodes have moved`() {
    let request = PublishSubject<Void>()
    store.set(Thing(9_600, "optimistic", links: [9_616]), confirmedBy: request.signal)

    removeMost()
    request.failed(Refusal())

    #expect(store.get(Reference<Thing>(9_600))?.name == "9600")
    #expect(store.core.tables.withLock { $0.retains.isEmpty } && store.core.flaw == nil)
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
