public import MillpondCore
import MillpondSignals

/// The tables of a store and the graph of their entities, under one lock: no user's code runs here,
/// but a key's `Hashable`.
@usableFromInline
struct EntityTables: Sendable {
  @usableFromInline var graph = Graph()
  @usableFromInline var tables: [any AnyEntityTable] = []
  @usableFromInline var numbers = TypeNumbers()
  @usableFromInline var storedCount = 0

  /// The last removal of everything, also for types that have no table yet.
  @usableFromInline var clearedAt = Revision.none

  /// What is in use, and whether entities have to be dropped for room.
  @usableFromInline var collection = CollectorState()

  /// Whether a writer has asked for nodes that it will refer to, which none is taken away from
  /// meanwhile; and those that might have been.
  @usableFromInline var isReferring = false
  @usableFromInline var forgettable: [NodeNumber] = []

  /// Whether a row has become vacant since it was last tried to give memory back.
  @usableFromInline var hasForgotten = false

  @usableFromInline
  init() {}

  /// The table of a type, which is made if there is none.
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

  /// The node of one who is about to be referred to, and is kept until the next commit.
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

  /// Notes that an entity is used now, or has been until now.
  @usableFromInline
  func touch(_ node: NodeNumber, _ now: Int64) {
    if let (table, row) = table(of: node) { table.touch(row, now) }
  }

  // MARK: Giving back

  /// Forgets an entity that nobody stores, refers to, observes or retains; gives what is to be
  /// released after the unlock.
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

  /// Gives memory back where most of it has become vacant.
  ///
  /// Not while the numbers of nodes or rows are in use: the writer does it, at the end.
  mutating func shrink() {
    guard hasForgotten else { return }
    hasForgotten = false
    for table in tables where table.isSparse { table.shrink(&graph) }
    guard graph.isSparse else { return }
    for (number, node) in graph.shrink() { tables[Int(node.table)].move(node.row, to: number) }
  }
}

/// The numbers of types, in the order in which they were added.
@usableFromInline
struct TypeNumbers: Sendable {
  /// The first few side by side, which is the quickest to search; then the others.
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
  /// Keeps an entity in use until it is released as often as it was retained.
  @inlinable
  mutating func retain<E: Identifiable & Sendable>(
    _ id: E.ID, in type: E.Type
  ) -> NodeNumber where E.ID: Sendable {
    let node = table(type).node(of: id, in: &graph)
    collection.retains[node, default: 0] += 1
    graph.nodes[Int(node)].isRetained = true
    collection.arrive(node)
    return node
  }

  /// Releases an entity once; gives what is to be released after the unlock.
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

/// What of a store is in use though nobody refers to it, and whether there is room for more.
@usableFromInline
struct CollectorState: Sendable {
  /// How often entities are retained that are.
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  /// Below this count nothing has to be dropped for room, since it was tried in vain.
  @usableFromInline var crowd = 0

  /// Whether a collector goes through what is in use, and what has come into use meanwhile.
  @usableFromInline var isCollecting = false
  @usableFromInline var arrivals: [NodeNumber] = []

  @usableFromInline
  init() {}

  /// Notes that an entity is in use from now on.
  @usableFromInline
  mutating func arrive(_ node: NodeNumber) {
    if isCollecting { arrivals.append(node) }
  }

  /// Lets room be looked for again, since something may have gone out of use.
  @usableFromInline
  mutating func depart() {
    crowd = 0
  }
}
