public import MillpondCore
import MillpondSignals

/// The rows of one type: one for each identity that is stored, referred to, observed or retained.
@usableFromInline
@_fixed_layout
final class EntityTable<E: Entity>: @unchecked Sendable {
  // Sendable because its variables are touched only under the lock of the tables that contain it.
  @usableFromInline
  @frozen
  struct Row: Sendable {
    /// The identity; nil for a vacant row.
    @usableFromInline let id: E.ID?
    @usableFromInline var node: NodeNumber
    @usableFromInline var value: E?

    /// The time of the last set or get.
    @usableFromInline var touched: Int64 = 0

    /// The revision of the last write; a fill is not a write.
    @usableFromInline var written = Revision.none

    /// The revision of the last set or fill, which orders several within one step of the clock.
    @usableFromInline var stored = Revision.none

    @inlinable
    init(id: E.ID?, node: NodeNumber) {
      self.id = id
      self.node = node
    }
  }

  /// The number of the table in the graph.
  @usableFromInline let number: Int32
  @exclusivity(unchecked) @usableFromInline var rows: ContiguousArray<Row> = []
  @exclusivity(unchecked) @usableFromInline var listeners: [Int: TableListener<E>] = [:]

  /// The edits of the present commit for the listeners: of what readers see, for queries, and of
  /// confirmed values, for copies.
  @exclusivity(unchecked) @usableFromInline
  var announced: (visible: [TableEdit<E>], confirmed: [TableEdit<E>]) = ([], [])

  /// The admission of writes and fills, by the revisions in the rows and those of former rows.
  @exclusivity(unchecked) @usableFromInline var order = WriteOrder<E.ID>()

  @exclusivity(unchecked) @usableFromInline var index = SlotIndex()
  @exclusivity(unchecked) @usableFromInline var vacant: [Int32] = []

  /// The values of entities with optimistic writes, whose visible values are in the rows; and the
  /// entities that each of these writes has touched.
  ///
  /// Changed only with the turn and the lock.
  @exclusivity(unchecked) @usableFromInline var optimistic: [E.ID: OptimisticRow<E>] = [:]
  @exclusivity(unchecked) @usableFromInline var optimisticWrites: [Revision: [E.ID]] = [:]

  /// The relations, once they are read; touched only with the turn.
  @exclusivity(unchecked) @usableFromInline var knownRelations: [Relation<E>]?

  @inlinable
  init(number: Int32) {
    self.number = number
  }

  /// Returns the relations of the type, which are read once: that runs users' code.
  @inlinable
  func relations() -> [Relation<E>] {
    if let knownRelations { return knownRelations }
    let relations = E.relations
    knownRelations = relations
    return relations
  }

  @inlinable
  func row(of id: E.ID) -> Int32? {
    index.find(hash(id)) { rows[Int($0)].id == id }
  }

  /// Returns the state of an entity as of the last commit.
  @inlinable
  func find(_ id: E.ID) -> StoredEntity<E> {
    let row = row(of: id)
    let layers = optimistic.isEmpty ? nil : optimistic[id]?.values
    return StoredEntity(
      row: row, value: row.flatMap { rows[Int($0)].value }, layers: layers)
  }

  /// Returns the node of `id`; nil if there is none.
  @inlinable
  func knownNode(of id: E.ID) -> NodeNumber? {
    row(of: id).map { rows[Int($0)].node }
  }

  /// Returns the node of `id`, and makes it if there is none.
  @inlinable
  func node(of id: E.ID, in graph: inout ReferenceGraph) -> NodeNumber {
    if let node = knownNode(of: id) { return node }
    let row = vacant.popLast() ?? Int32(rows.count)
    let node = graph.addNode(table: number, row: row)
    if Int(row) == rows.count {
      // By a quarter, since a store with twice the rows would have twice the size.
      if rows.count == rows.capacity { rows.reserveCapacity(rows.count / 4 * 5 + 8) }
      rows.append(Row(id: id, node: node))
    } else {
      rows[Int(row)] = Row(id: id, node: node)
    }
    index.insert(hash(id), row)
    return node
  }

  /// Returns the value of an entity as of the last commit, and records that it is used now.
  @inlinable
  @inline(__always)  // so that a get makes no further call
  func read(_ id: E.ID, at now: Int64) -> E? {
    guard let row = row(of: id) else { return nil }
    touch(row, now)
    return rows[Int(row)].value
  }

  /// Records that the entity in a row is used now.
  @inlinable
  func touch(_ row: Int32, _ now: Int64) {
    rows[Int(row)].touched = now
  }

  /// All stored entities, as edits that set them.
  @inlinable
  var storedEdits: [TableEdit<E>] {
    rows.compactMap { row in row.value.map { TableEdit(id: $0.id, value: $0) } }
  }

  /// All confirmed entities, as edits that set them.
  @usableFromInline
  var confirmedEdits: [TableEdit<E>] {
    if optimistic.isEmpty { return storedEdits }
    return storedEdits.filter { optimistic[$0.id] == nil }
      + optimistic.compactMap { id, row in
        row.values.confirmed.map { TableEdit(id: id, value: $0) }
      }
  }

  /// Returns whether a write with its own revision is admitted on arrival; if so, remembers it.
  @inlinable
  func admits(_ revision: Revision, for id: E.ID) -> Bool {
    guard order.admit(id, revision, over: written(id)) else { return false }
    order.remember(id, revision)
    return true
  }

  /// Returns the last write of an entity, as recorded in its row.
  @inlinable
  func written(_ id: E.ID) -> Revision {
    row(of: id).map { rows[Int($0)].written } ?? .none
  }

  /// Returns the identities of all entities that are stored or have optimistic values, except of
  /// those that were written after `revision`.
  @inlinable
  func ids(until revision: Revision) -> [E.ID] {
    let stored = rows.compactMap { $0.value == nil || $0.written > revision ? nil : $0.id }
    return stored + optimistic.keys.filter { written($0) <= revision }
  }

  /// Calls `body` with the use of each entity, stored or not: values are not touched, which takes
  /// ten times as long.
  @inlinable
  func forEachUse(_ body: (EntityUse) -> Void) {
    for row in rows.indices where rows[row].node != ReferenceGraph.none {
      body((rows[row].touched, rows[row].stored, rows[row].node))
    }
  }

  @inlinable
  func hash(_ id: E.ID) -> UInt32 {
    UInt32(truncatingIfNeeded: id.mixedHash)
  }
}

/// The state of an entity as of the last commit.
@usableFromInline
@frozen
struct StoredEntity<E: Entity>: Sendable {
  @usableFromInline let row: Int32?
  @usableFromInline let value: E?

  /// The optimistic writes that have made the value.
  @usableFromInline let layers: OptimisticValues<E>?

  @inlinable
  init(row: Int32?, value: E?, layers: OptimisticValues<E>?) {
    self.row = row
    self.value = value
    self.layers = layers
  }
}

/// The result of a commit for one entity: its present value, or none.
@usableFromInline
@frozen
package struct TableEdit<E: Entity>: Sendable {
  @usableFromInline package let id: E.ID
  @usableFromInline package let value: E?

  @inlinable
  init(id: E.ID, value: E?) {
    self.id = id
    self.value = value
  }
}

/// A subscriber to all commits that touch a type.
@usableFromInline
@frozen
struct TableListener<E: Entity>: Sendable {
  /// Whether it protects the table's entities from pruning.
  @usableFromInline let isQuery: Bool

  /// The number of levels of references at which changes are noticed.
  @usableFromInline let depth: Int
  @usableFromInline let notice: @Sendable ([TableEdit<E>]) -> Notice

  @inlinable
  init(isQuery: Bool, depth: Int, notice: @escaping @Sendable ([TableEdit<E>]) -> Notice) {
    self.isQuery = isQuery
    self.depth = depth
    self.notice = notice
  }
}
