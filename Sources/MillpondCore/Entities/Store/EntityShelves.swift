import MillpondSignals

/// All that a store knows, under its lock: no user's code runs here, but a key's `Hashable`.
struct EntityShelves: Sendable {
  var graph = Graph()
  var tables: [any AnyEntityTable] = []
  var tableNumbers: [ObjectIdentifier: Int] = [:]
  var storedCount = 0

  /// Who observes which entity, by the numbers of the observers.
  var watches: [NodeNumber: [Int: NodeWatch]] = [:]

  /// How often entities are retained that are.
  var retains: [NodeNumber: Int] = [:]

  /// How to end those who wait for anything from here, by their numbers.
  var askers: [Int: Asker] = [:]

  /// Who is told after all that a commit has to tell of what is stored.
  var commitListeners: [Int: Notice] = [:]

  /// What has been removed of late, for what was asked for before.
  var removals = ToldKeys()

  /// When everything was last removed.
  var clearedAt = Revision.none

  /// What is still to be told, in the order of the commits.
  var notices: [Notice] = []
  var isDelivering = false

  /// Below this nothing has to be dropped for room, since it was tried in vain.
  var crowd = 0
  /// How many entities have lost their last observer since the graph was marked anew.
  var departures = 0
  private var lastNumber = 0

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  func table<E: Entity>(_: E.Type) -> EntityTable<E>? {
    tableNumbers[ObjectIdentifier(E.self)].map {
      unsafeDowncast(tables[$0] as AnyObject, to: EntityTable<E>.self)
    }
  }

  /// The table of a type, for which this one is taken if there is none yet.
  mutating func table<E: Entity>(orElse make: (_ number: Int32) -> EntityTable<E>) -> EntityTable<E>
  {
    if let table = table(E.self) { return table }
    let table = make(Int32(tables.count))
    tableNumbers[ObjectIdentifier(E.self)] = tables.count
    tables.append(table)
    return table
  }

  func table(of node: NodeNumber) -> (any AnyEntityTable, row: Int32)? {
    let node = graph.nodes[Int(node)]
    return node.table == Graph.none ? nil : (tables[Int(node.table)], node.row)
  }
}

/// How to end the wait of one who observes or asks.
struct Asker: Sendable {
  let fail: @Sendable (any Error) -> Void
}

/// One who observes an entity.
struct NodeWatch: Sendable {
  /// Makes what is to be called of a commit with these causes, with the value as it is now.
  let notice: @Sendable (_ causes: [AnyReference]) -> Notice
}

/// What one commit does, step by step.
struct Commit: Sendable {
  let revision = Revision.next()
  let now: Int64

  /// Whether only those are told who keep a copy of what is stored.
  let isSilent: Bool

  /// What has changed, and what observers are told that did, side by side.
  var changed: [NodeNumber] = []
  var causes: [AnyReference] = []

  /// What may not be known by anyone any more.
  var loose: [NodeNumber] = []

  /// Who is to be told of the types that were touched.
  var notices: [Notice] = []

  /// What is to be released after the unlock.
  var released: [any Sendable] = []
}

/// What can be told its number in a graph: a reference of whatever type.
protocol Interned: Sendable {
  /// Sees to it, before the lock, that its table is there.
  func prepare(in core: EntityCore)

  /// Its node, which is made if there is none.
  func node(in shelves: inout EntityShelves) -> NodeNumber?
}

extension Reference: Interned {
  func prepare(in core: EntityCore) {
    _ = core.table(Target.self)
  }

  func node(in shelves: inout EntityShelves) -> NodeNumber? {
    shelves.table(Target.self)?.node(of: id, in: &shelves.graph)
  }
}
