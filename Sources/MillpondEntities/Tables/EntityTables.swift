public import MillpondCore
import MillpondSignals

/// The tables of a store and the graph of their entities, under one lock.
///
/// No user's code runs here, except a key's `Hashable`.
@usableFromInline
struct EntityTables: Sendable {
  @usableFromInline var graph = ReferenceGraph()
  @usableFromInline var tables: [AnyEntityTable] = []
  @usableFromInline var numbers = TypeNumbers()
  @usableFromInline var storedCount = 0

  /// The number of entities that are stored when a commit has been applied in steps; nil if there
  /// is no such commit.
  var committedCount: Int?

  /// The greatest number of edits that were applied, and of nodes that were removed, in one step.
  var longestStep = 0

  /// The revision of the last removal of everything, which also covers types without a table yet.
  @usableFromInline var clearedAt = Revision.none

  /// The entities in use by handles, and the state of eviction.
  @usableFromInline var collection: CollectorState

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

  /// The numbers of the tables below whose entities marks wait for the end of a walk.
  private var unmarked: [(table: Int32, depth: UInt8)] = []

  /// - Parameter limit: The number of entities to keep.
  init(_ limit: EvictionLimit) {
    collection = CollectorState(limit)
  }

  /// Returns the table of a type, and makes it if there is none.
  @inlinable
  mutating func table<E: Identifiable & Sendable>(
    _: E.Type
  ) -> EntityTable<E> where E.ID: Sendable {
    if let number = numbers.number(of: ObjectIdentifier(E.self)) {
      return unsafeDowncast(tables[number].table, to: EntityTable<E>.self)
    }
    let table = EntityTable<E>(number: Int32(tables.count))
    numbers.add(ObjectIdentifier(E.self))
    tables.append(AnyEntityTable(table))
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
  mutating func setStored(_ node: NodeNumber, _ isStored: Bool) {
    if graph.nodes[Int(node)].isStored == isStored { return }
    graph.nodes[Int(node)].isStored = isStored
    storedCount += isStored ? 1 : -1
    if !isStored { collection.prepare(from: storedCount) }
  }

  /// Records that an entity is used now, or was until now.
  @usableFromInline
  func touch(_ number: NodeNumber, _ now: Int64) {
    let node = graph.nodes[Int(number)]
    if node.table != ReferenceGraph.none { tables[Int(node.table)].touch(node.row, now) }
  }

  // MARK: Depths

  /// The greatest depth of the subscribers of each table.
  var depths: [UInt8] {
    tables.indices.map { tables[$0].depth() }
  }

  /// Marks anew the nodes below those that are watched or listed now.
  mutating func remark(below watched: some Sequence<NodeNumber>) {
    graph.remark(below: watched)
    let depths = depths
    for table in depths.indices.filter({ depths[$0] > 0 }).sorted(by: { depths[$0] > depths[$1] }) {
      graph.mark(below: tables[table].storedNodes(), depth: depths[table])
    }
  }

  /// Adds a node to a walk that sets marks, if it is observed or shown by a list with a depth.
  mutating func begin(_ marking: inout ReferenceGraph.Marking, at number: NodeNumber) {
    let node = graph.nodes[Int(number)]
    if node.table == ReferenceGraph.none { return }
    if node.isWatched { graph.begin(&marking, at: number, depth: ReferenceGraph.anyDepth) }
    let depth = tables[Int(node.table)].depth()
    if depth > 0, node.isStored { graph.begin(&marking, at: number, depth: depth) }
  }

  /// Marks what the entities of a table refer to, or records that it is to be done after a walk in
  /// steps.
  ///
  /// - Parameters:
  ///   - table: The number of the table.
  ///   - depth: The number of levels of references at which changes are noticed.
  @usableFromInline
  mutating func mark(below table: Int32, depth: UInt8) {
    if graph.isWalked { return unmarked.append((table, depth)) }
    graph.mark(below: tables[Int(table)].storedNodes(), depth: depth)
  }

  /// Sets the marks that had to wait, until about `count` are set; returns whether there are more.
  mutating func markPostponed(atMost count: Int) -> Bool {
    var left = count
    while left > 0 {
      left -= 1
      if let (table, depth) = unmarked.popLast() {
        left -= graph.mark(below: tables[Int(table)].storedNodes(), depth: depth)
      } else if let root = graph.unmarked.popLast() {
        // It may have lost its observer, and its place, since.
        guard Int(root) < graph.nodes.count, graph.nodes[Int(root)].isWatched else { continue }
        left -= graph.mark(below: CollectionOfOne(root))
      } else {
        return false
      }
    }
    return true
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

  /// Whether to give memory back since most of it is vacant; true once.
  ///
  /// Not while numbers of nodes or rows are in use; the writer calls it at the end.
  @usableFromInline
  mutating func takeIsSparse() -> Bool {
    guard hasForgotten else { return false }
    hasForgotten = false
    return graph.isSparse || !sparseTables.isEmpty
  }

  /// The numbers of the tables most of whose rows are vacant.
  var sparseTables: [Int] {
    tables.indices.filter { tables[$0].isSparse() }
  }

  /// Gives up the last nodes, up to `count`; returns whether there are more.
  ///
  /// - Parameters:
  ///   - count: The greatest number of nodes.
  ///   - numbers: The present numbers of moved nodes.
  mutating func giveUpNodes(atMost count: Int, _ numbers: inout MovedNodes) -> Bool {
    let goesOn = graph.giveUpNodes(atMost: count) { [tables] node, former, present in
      tables[Int(node.table)].move(node.row, present)
      numbers.add(former, present)
    }
    // From now on a number may be given to another node.
    if !goesOn { forgettable = forgettable.map { numbers.present($0) } }
    return goesOn
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
    graph.keep(node)
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
