import MillpondSignals

/// All that a store knows of one type: a row for each identity that is stored, referred to, observed
/// or retained.
@usableFromInline
final class EntityTable<E: Entity>: @unchecked Sendable {
  // Sendable because its variables are touched only under the lock of the core that has it.
  @usableFromInline
  struct Row {
    /// Nil of a row that is vacant.
    @usableFromInline let id: E.ID?
    @usableFromInline var node: NodeNumber
    @usableFromInline var value: E?

    /// When it was last set or asked for.
    @usableFromInline var touched: Int64 = 0

    /// When it was last told; what a source brings is no telling.
    @usableFromInline var told = Revision.none

    /// When it was last set or filled: of several within one step of the clock, the order.
    @usableFromInline var stored = Revision.none

    @inlinable
    init(id: E.ID?, node: NodeNumber) {
      self.id = id
      self.node = node
    }
  }

  /// What it is called in the graph.
  @usableFromInline let number: Int32
  @usableFromInline let relations: [Relation<E>]
  @exclusivity(unchecked) @usableFromInline var rows: ContiguousArray<Row> = []
  @usableFromInline var listeners: [Int: TableListener<E>] = [:]

  /// When all of it was last removed.
  @usableFromInline var clearedAt = Revision.none

  @exclusivity(unchecked) @usableFromInline var index = SlotIndex()
  @usableFromInline var vacant: [Int32] = []

  @inlinable
  init(number: Int32, relations: [Relation<E>]) {
    self.number = number
    self.relations = relations
  }

  @inlinable
  func row(of id: E.ID) -> Int32? {
    index.find(hash(id)) { rows[Int($0)].id == id }
  }

  /// Where an entity is, and what it is now.
  @inlinable
  func find(_ id: E.ID) -> (row: Int32?, value: E?) {
    let row = row(of: id)
    guard let row else { return (nil, nil) }
    return (row, rows[Int(row)].value)
  }

  /// The node of `id`, which is made if there is none.
  @inlinable
  func node(of id: E.ID, in graph: inout Graph) -> NodeNumber {
    if let row = row(of: id) { return rows[Int(row)].node }
    let row = vacant.popLast() ?? Int32(rows.count)
    let node = graph.addNode(table: number, row: row)
    if Int(row) == rows.count {
      rows.append(Row(id: id, node: node))
    } else {
      rows[Int(row)] = Row(id: id, node: node)
    }
    index.insert(hash(id), row)
    return node
  }

  /// Puts a value into its row, or takes it out; gives what was there.
  @inlinable
  func replace(_ row: Int32, by value: E?) -> E? {
    var other = value
    swap(&rows[Int(row)].value, &other)
    return other
  }

  /// Notes that the entity in a row was used now, and told, unless a source has brought it.
  @inlinable
  func note(_ row: Int32, _ now: Int64, _ revision: Revision?) {
    rows[Int(row)].touched = now
    guard let revision else { return }
    rows[Int(row)].told = revision
    rows[Int(row)].stored = revision
  }

  /// The identities of all that is stored.
  @inlinable
  var storedIDs: [E.ID] {
    rows.compactMap { $0.value == nil ? nil : $0.id }
  }

  @inlinable
  var storedNodes: [NodeNumber] {
    rows.compactMap { $0.value == nil ? nil : $0.node }
  }

  /// All that is stored, as if it had just been set.
  @inlinable
  var storedEdits: [TableEdit<E>] {
    rows.compactMap { row in
      row.value.map { TableEdit(id: $0.id, value: $0) }
    }
  }

  @inlinable
  func hash(_ id: E.ID) -> UInt32 {
    UInt32(truncatingIfNeeded: id.hashValue)
  }
}

/// A table of whatever type.
@usableFromInline
protocol AnyEntityTable: AnyObject, Sendable {
  /// Whether a live query shows what is in it.
  var isQueried: Bool { get }

  /// Removes all that is in it, as a transaction.
  @inlinable
  func removeAll(from core: EntityCore)

  /// Notes that the entity in a row was used now.
  @inlinable
  func touch(_ row: Int32, _ now: Int64)

  /// When the entity in a row was last used; nil if there is none.
  @inlinable
  func use(of row: Int32) -> EntityUse?

  /// Empties rows without telling those who observe them, of whom there are none.
  @inlinable
  func empty(_ rows: [Int32]) -> (released: any Sendable, notices: [Notice])

  /// Notes when the entity in a row was told, which the row is about to forget.
  @inlinable
  func rememberTelling(of row: Int32, in removals: inout RecentRemovals)

  /// Whether most rows are vacant.
  @inlinable
  var isSparse: Bool { get }

  /// Moves the rows together, and tells the nodes.
  @inlinable
  func shrink(_ graph: inout Graph)

  /// Notes that a row belongs to another node now.
  @inlinable
  func move(_ row: Int32, to node: NodeNumber)

  /// Gives up a row that is empty; what is in it is to be released after the unlock.
  @inlinable
  func forget(_ row: Int32) -> any Sendable
}

/// When an entity was last used: what is least is the first to go.
@usableFromInline
struct EntityUse: Sendable, Comparable {
  @usableFromInline let touched: Int64
  @usableFromInline let stored: Revision

  @inlinable
  init(touched: Int64, stored: Revision) {
    self.touched = touched
    self.stored = stored
  }

  @inlinable
  static func < (left: EntityUse, right: EntityUse) -> Bool {
    (left.touched, left.stored) < (right.touched, right.stored)
  }
}

extension EntityTable: AnyEntityTable {
  @inlinable
  var isQueried: Bool {
    listeners.values.contains { $0.isQuery }
  }

  @inlinable
  func removeAll(from core: EntityCore) {
    core.removeAll(of: E.self)
  }

  @inlinable
  func touch(_ row: Int32, _ now: Int64) {
    rows[Int(row)].touched = now
  }

  /// Notes that the entity in a row was stored again, by whomever.
  @inlinable
  func touch(_ row: Int32, _ now: Int64, _ revision: Revision) {
    rows[Int(row)].touched = now
    rows[Int(row)].stored = revision
  }

  @inlinable
  func use(of row: Int32) -> EntityUse? {
    if rows[Int(row)].value == nil { return nil }
    return EntityUse(touched: rows[Int(row)].touched, stored: rows[Int(row)].stored)
  }

  @inlinable
  func empty(_ emptied: [Int32]) -> (released: any Sendable, notices: [Notice]) {
    let edits = emptied.compactMap { row in
      rows[Int(row)].id.map { TableEdit<E>(id: $0, value: nil) }
    }
    let old = emptied.map { replace($0, by: nil) }
    return (old, notices(of: edits))
  }

  @inlinable
  func rememberTelling(of row: Int32, in removals: inout RecentRemovals) {
    let row = rows[Int(row)]
    guard let id = row.id, row.told > removals.forgotten else { return }
    removals.remember(EntityShelves.mark(Reference<E>(id)), row.told)
  }

  /// - Parameter isSilent: Whether queries are not told.
  @inlinable
  func notices(of edits: [TableEdit<E>], isSilent: Bool = false) -> [Notice] {
    if edits.isEmpty || listeners.isEmpty { return [] }
    return listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
      isSilent && listener.isQuery ? nil : listener.notice(edits)
    }
  }

  @inlinable
  var isSparse: Bool {
    Graph.isSparse(vacant.count, of: rows.count)
  }

  @inlinable
  func shrink(_ graph: inout Graph) {
    let former = rows
    rows = []
    rows.reserveCapacity(former.count - vacant.count)
    vacant = []
    index = SlotIndex()
    for row in former {
      guard let id = row.id else { continue }
      graph.nodes[Int(row.node)].row = Int32(rows.count)
      index.insert(hash(id), Int32(rows.count))
      rows.append(row)
    }
  }

  @inlinable
  func move(_ row: Int32, to node: NodeNumber) {
    rows[Int(row)].node = node
  }

  @inlinable
  func forget(_ row: Int32) -> any Sendable {
    let old = rows[Int(row)]
    guard let id = old.id else { return () }
    rows[Int(row)] = Row(id: nil, node: Graph.none)
    index.remove(hash(id), row)
    vacant.append(row)
    return id
  }
}

/// What a commit has done to an entity: the value it has now, or none.
@usableFromInline
package struct TableEdit<E: Entity>: Sendable {
  @usableFromInline package let id: E.ID
  @usableFromInline package let value: E?

  @inlinable
  init(id: E.ID, value: E?) {
    self.id = id
    self.value = value
  }
}

/// Someone who is told of every commit that touches a type.
@usableFromInline
struct TableListener<E: Entity>: Sendable {
  /// Whether it keeps what is in the table from being pruned.
  @usableFromInline let isQuery: Bool
  @usableFromInline let notice: @Sendable ([TableEdit<E>]) -> Notice

  @inlinable
  init(isQuery: Bool, notice: @escaping @Sendable ([TableEdit<E>]) -> Notice) {
    self.isQuery = isQuery
    self.notice = notice
  }
}

/// What is to be called, outside of any lock, to tell one observer of one commit.
@usableFromInline
typealias Notice = @Sendable () -> Void
