public import MillpondCore
import MillpondSignals

/// The tables of a store and the graph of their entities, under one lock.
///
/// No user's code runs here, except a key's `Hashable`.
@usableFromInline
struct EntityTables: Sendable {
  @usableFromInline var graph = ReferenceGraph()
  @usableFromInline var observers = EntityObservers()
  @usableFromInline var tables: [AnyEntityTable] = []

  /// The types of the tables, in the same order: an array, which is the fastest to search while
  /// types are few.
  @usableFromInline var types: [ObjectIdentifier] = []
  @usableFromInline var storedCount = 0

  /// The revision of the last removal of everything, which also covers types without a table yet.
  @usableFromInline var clearedAt = Revision.none

  @usableFromInline var limit: EvictionLimit

  /// The observers of each entity, and the retain counts of retained entities.
  @usableFromInline var watches: [NodeNumber: ObserverList] = [:]
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  /// The number of entities that have lost their last observer since the last marking.
  var departures = 0

  /// Whether a writer holds nodes that it will refer to, so that no node may be removed meanwhile;
  /// and the nodes whose removal is postponed.
  @usableFromInline var isReferring = false
  @usableFromInline var forgettable: [NodeNumber] = []

  /// The nodes that are retained once less after the commit.
  var unretained: [NodeNumber] = []

  /// The greatest depth, in each table, at which subscribers notice changes of what the entities
  /// refer to.
  @usableFromInline var depths: [Int] = []

  /// Whether a row has become vacant since the last attempt to give memory back.
  @usableFromInline var hasForgotten = false

  /// - Parameter limit: The number of entities to keep.
  init(_ limit: Int) {
    self.limit = EvictionLimit(limit)
  }

  /// Returns the table of a type, and makes it if there is none.
  @inlinable
  mutating func table<E: Entity>(_: E.Type) -> EntityTable<E> {
    for number in types.indices where types[number] == ObjectIdentifier(E.self) {
      return unsafeDowncast(tables[number].table, to: EntityTable<E>.self)
    }
    let table = EntityTable<E>(number: Int32(tables.count))
    types.append(ObjectIdentifier(E.self))
    tables.append(AnyEntityTable(table))
    depths.append(0)
    return table
  }

  @usableFromInline
  mutating func setStored(_ node: NodeNumber, _ isStored: Bool) {
    if graph.nodes[Int(node)].isStored == isStored { return }
    graph.nodes[Int(node)].isStored = isStored
    storedCount += isStored ? 1 : -1
    if !isStored { limit.lower(to: storedCount) }
  }

  /// Records that an entity is used now, or was until now.
  @usableFromInline
  func touch(_ number: NodeNumber, _ now: Int64) {
    let node = graph.nodes[Int(number)]
    if node.table != ReferenceGraph.none { tables[Int(node.table)].touch(node.row, now) }
  }

  // MARK: Giving memory back

  /// Removes the node and row of an entity that is not stored, referred to, observed or retained.
  ///
  /// Returns the contents for release after the unlock.
  @usableFromInline
  mutating func forget(_ node: NodeNumber) -> (any Sendable)? {
    guard graph.isLoose(node) else { return nil }
    if isReferring {
      forgettable.append(node)
      return nil
    }
    hasForgotten = true
    let (table, row) = (graph.nodes[Int(node)].table, graph.nodes[Int(node)].row)
    graph.removeNode(node)
    return tables[Int(table)].forget(row)
  }
}

extension EntityTables {
  /// Keeps an entity in use until it has been released as often as it was retained.
  @usableFromInline
  mutating func retain(_ node: NodeNumber) {
    retains[node, default: 0] += 1
    graph.nodes[Int(node)].isRetained = true
  }

  /// Releases an entity once, and returns objects for release after the unlock.
  @usableFromInline
  mutating func release(_ node: NodeNumber, _ now: Int64) -> (any Sendable)? {
    guard let count = retains[node] else { return nil }
    touch(node, now)
    retains[node] = count > 1 ? count - 1 : nil
    if count > 1 { return nil }
    graph.nodes[Int(node)].isRetained = false
    limit.depart()
    return forget(node)
  }
}
