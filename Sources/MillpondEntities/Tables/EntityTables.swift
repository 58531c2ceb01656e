public import MillpondCore
import MillpondSignals

/// The tables of a store and the graph of their entities, under one lock.
///
/// No user's code runs here, except a key's `Hashable`.
@usableFromInline
struct EntityTables: Sendable {
  @usableFromInline var graph = Graph()
  @usableFromInline var tables: [any AnyEntityTable] = []
  @usableFromInline var numbers = TypeNumbers()
  @usableFromInline var storedCount = 0

  /// The number of entities that are stored when a commit has been applied in steps; nil if there is
  /// no such commit.
  var committedCount: Int?

  /// The greatest number of edits that were applied, and of nodes that were removed, in one step.
  var longestStep = 0

  /// The revision of the last removal of everything, which also covers types without a table yet.
  @usableFromInline var clearedAt = Revision.none

  /// The entities in use by observers and handles, and the state of eviction.
  @usableFromInline var collection = CollectorState()

  /// Whether a writer holds nodes that it will refer to, so that no node may be removed meanwhile;
  /// and the nodes whose removal is postponed.
  @usableFromInline var isReferring = false
  @usableFromInline var forgettable: [NodeNumber] = []

  /// The nodes that are retained once less after the commit.
  var unretained: [NodeNumber] = []

  /// The number of subscribers that notice changes of what the entities of a type refer to.
  @usableFromInline var deepListenerCount = 0

  /// Whether a row has become vacant since the last attempt to give memory back.
  @usableFromInline var hasForgotten = false

  @usableFromInline
  init() {}

  /// Returns the table of a type, and makes it if there is none.
  @inlinable
  mutating func table<E: Identifiable & Sendable>(
    _: E.Type
  ) -> EntityTable<E> where E.ID: Sendable {
    if let number = numbers.number(of: ObjectIdentifier(E.self)) {
      return unsafeDowncast(tables[number] as AnyObject, to: EntityTable<E>.self)
    }
    let table = EntityTable<E>(number: Int32(tables.count))
    numbers.add(ObjectIdentifier(E.self))
    tables.append(table)
    return table
  }

  /// Returns the node of an entity that is about to be referred to; it is kept until the next
  /// commit.
  @inlinable
  mutating func node<E: Identifiable & Sendable>(
    ofRelated id: E.ID, in type: E.Type
  ) -> NodeNumber where E.ID: Sendable {
    isReferring = true
    return table(type).node(of: id, in: &graph)
  }

  @usableFromInline
  func table(of node: NodeNumber) -> (any AnyEntityTable, row: Int32)? {
    let node = graph.nodes[Int(node)]
    return node.table == Graph.none ? nil : (tables[Int(node.table)], node.row)
  }

  @usableFromInline
  mutating func setStored(_ node: NodeNumber, _ isStored: Bool) {
    if graph.nodes[Int(node)].isStored == isStored { return }
    graph.nodes[Int(node)].isStored = isStored
    storedCount += isStored ? 1 : -1
  }

  /// Records that an entity is used now, or was until now.
  @usableFromInline
  func touch(_ node: NodeNumber, _ now: Int64) {
    if let (table, row) = table(of: node) { table.touch(row, now) }
  }

  // MARK: Depths

  /// Marks anew the nodes below those that are watched or listed now.
  mutating func remark(below watched: some Sequence<NodeNumber>) {
    graph.remark(below: watched)
    for table in tables.filter({ $0.depth > 0 }).sorted(by: { $0.depth > $1.depth }) {
      graph.mark(below: table.storedNodes, depth: table.depth)
    }
  }

  /// Returns the notices of a commit for subscribers of types with a depth.
  @usableFromInline
  mutating func deepNotices(_ changed: [NodeNumber], upTo last: Int) -> [Notice] {
    let depths = tables.map(\.depth)
    var related = tables.map { _ in [(row: Int32, distance: Int)]() }
    for (number, distance) in graph.listed(above: changed, depths) {
      let node = graph.nodes[Int(number)]
      related[Int(node.table)].append((node.row, distance))
    }
    return zip(tables, related).flatMap { table, related in
      table.depth > 0 ? table.deepNotices(related, upTo: last) : []
    }
  }

  // MARK: Giving memory back

  /// Removes the node and row of an entity that is not stored, referred to, observed or retained.
  ///
  /// Returns the contents for release after the unlock.
  @usableFromInline
  mutating func forget(_ node: NodeNumber) -> (any Sendable)? {
    guard graph.isLoose(node), let (table, row) = table(of: node) else { return nil }
    if isReferring {
      forgettable.append(node)
      return nil
    }
    hasForgotten = true
    graph.removeNode(node)
    return table.forget(row)
  }

  /// Gives memory back if most of it is vacant.
  ///
  /// Not while numbers of nodes or rows are in use; the writer calls it at the end.
  mutating func shrink() {
    guard hasForgotten else { return }
    hasForgotten = false
    for table in tables where table.isSparse { table.shrink(&graph) }
    guard graph.isSparse else { return }
    for (number, node) in graph.shrink() { tables[Int(node.table)].move(node.row, to: number) }
  }
}

/// The numbers of types, in order of addition.
@usableFromInline
struct TypeNumbers: Sendable {
  /// The first few in an array, which is the fastest to search, and then the others.
  @usableFromInline var first: [ObjectIdentifier] = []
  @usableFromInline var others: [ObjectIdentifier: Int] = [:]

  @inlinable
  init() {}

  @inlinable
  func number(of type: ObjectIdentifier) -> Int? {
    for number in first.indices where first[number] == type { return number }
    return others.isEmpty ? nil : others[type]
  }

  @usableFromInline
  mutating func add(_ type: ObjectIdentifier) {
    if first.count < 8 {
      first.append(type)
    } else {
      others[type] = first.count + others.count
    }
  }
}

extension EntityTables {
  /// Keeps an entity in use until it has been released as often as it was retained.
  @inlinable
  mutating func retain<E: Identifiable & Sendable>(
    _ id: E.ID, in type: E.Type
  ) -> NodeNumber where E.ID: Sendable {
    let node = table(type).node(of: id, in: &graph)
    retain(node)
    return node
  }

  @usableFromInline
  mutating func retain(_ node: NodeNumber) {
    collection.retains[node, default: 0] += 1
    graph.nodes[Int(node)].isRetained = true
    collection.arrive(node)
  }

  /// Releases an entity once, and returns objects for release after the unlock.
  @usableFromInline
  mutating func release(_ node: NodeNumber, _ now: Int64) -> (any Sendable)? {
    guard let count = collection.retains[node] else { return nil }
    touch(node, now)
    collection.retains[node] = count > 1 ? count - 1 : nil
    if count > 1 { return nil }
    graph.nodes[Int(node)].isRetained = false
    collection.depart()
    return forget(node)
  }
}

/// The entities that are in use without references to them, and the state of eviction.
@usableFromInline
struct CollectorState: Sendable {
  /// The retain counts of retained entities.
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  /// The count of entities up to which eviction is not tried again, because it did not make room.
  @usableFromInline var crowd = 0

  /// Whether a collector is running, and the entities that came into use meanwhile.
  @usableFromInline var isCollecting = false
  @usableFromInline var arrivals: [NodeNumber] = []

  @usableFromInline
  init() {}

  /// Records that an entity is in use from now on.
  @usableFromInline
  mutating func arrive(_ node: NodeNumber) {
    if isCollecting { arrivals.append(node) }
  }

  /// Allows eviction to be tried again, because an entity may not be in use any more.
  @usableFromInline
  mutating func depart() {
    crowd = 0
  }
}
