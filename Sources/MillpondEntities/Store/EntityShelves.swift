public import MillpondCore
import MillpondSignals

/// All that a store knows, under its lock: no user's code runs here, but a key's `Hashable`.
@usableFromInline
struct EntityShelves: Sendable {
  @usableFromInline var graph = Graph()
  @usableFromInline var tables: [any AnyEntityTable] = []

  /// Which type is in which table: the first few side by side, which is the quickest to search.
  @usableFromInline var tableTypes: [ObjectIdentifier] = []
  @usableFromInline var tableNumbers: [ObjectIdentifier: Int] = [:]
  @usableFromInline var storedCount = 0

  /// Who observes which entity, by the numbers of the observers.
  @usableFromInline var watches: [NodeNumber: [Int: NodeWatch]] = [:]

  /// How often entities are retained that are.
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  /// How to end those who wait for anything from here, by their numbers.
  @usableFromInline var askers: [Int: Asker] = [:]

  /// Who is told after all that a commit has to tell of what is stored.
  @usableFromInline var commitListeners: [Int: Notice] = [:]

  /// The last removal of everything, also for types that have no table yet.
  @usableFromInline var clearedAt = Revision.none

  /// What is still to be told, in the order of the commits.
  @usableFromInline var notices: [Notice] = []
  @usableFromInline var isDelivering = false

  /// Below this nothing has to be dropped for room, since it was tried in vain.
  @usableFromInline var crowd = 0

  /// Whether a writer goes through what is in use, and what has come into use meanwhile.
  @usableFromInline var isSweeping = false
  @usableFromInline var arrivals: [NodeNumber] = []

  /// Whether a writer has asked for nodes that it will refer to, which none is taken away from
  /// meanwhile; and those that might have been.
  @usableFromInline var isReferring = false
  @usableFromInline var forgettable: [NodeNumber] = []

  /// How many entities have lost their last observer since the graph was marked anew.
  @usableFromInline var departures = 0
  @usableFromInline var lastNumber = 0

  @usableFromInline
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  @inlinable
  func table<E: Entity>(_: E.Type) -> EntityTable<E>? {
    tableNumber(ObjectIdentifier(E.self)).map {
      unsafeDowncast(tables[$0] as AnyObject, to: EntityTable<E>.self)
    }
  }

  @inlinable
  func tableNumber(_ type: ObjectIdentifier) -> Int? {
    for number in tableTypes.indices where tableTypes[number] == type { return number }
    return tableNumbers.isEmpty ? nil : tableNumbers[type]
  }

  /// The table of a type, for which this one is taken if there is none yet.
  @inlinable
  mutating func table<E: Entity>(orElse make: (_ number: Int32) -> EntityTable<E>) -> EntityTable<E>
  {
    if let table = table(E.self) { return table }
    let table = make(Int32(tables.count))
    if tables.count < Self.fewTypes {
      tableTypes.append(ObjectIdentifier(E.self))
    } else {
      tableNumbers[ObjectIdentifier(E.self)] = tables.count
    }
    tables.append(table)
    return table
  }

  /// A node that is about to be referred to.
  @inlinable
  mutating func node<E>(of reference: Reference<E>, in table: EntityTable<E>) -> NodeNumber {
    isReferring = true
    return table.node(of: reference.id, in: &graph)
  }

  @usableFromInline
  static var fewTypes: Int { 8 }

  @usableFromInline
  func table(of node: NodeNumber) -> (any AnyEntityTable, row: Int32)? {
    let node = graph.nodes[Int(node)]
    return node.table == Graph.none ? nil : (tables[Int(node.table)], node.row)
  }
}

/// How to end the wait of one who observes or asks.
@usableFromInline
struct Asker: Sendable {
  @usableFromInline let fail: @Sendable (any Error) -> Void

  @inlinable
  init(_ fail: @escaping @Sendable (any Error) -> Void) {
    self.fail = fail
  }
}

/// One who observes an entity.
@usableFromInline
struct NodeWatch: Sendable {
  /// Makes what is to be called of a commit with these causes, with the value that is in the row now.
  @usableFromInline let notice: @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice

  @inlinable
  init(_ notice: @escaping @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice) {
    self.notice = notice
  }
}

/// What one commit does, step by step.
@usableFromInline
struct Commit: Sendable {
  @usableFromInline let revision = Revision.next()
  @usableFromInline let now: Int64

  /// Whether only those are told who keep a copy of what is stored.
  @usableFromInline let isSilent: Bool

  /// What has changed, and what observers are told that did, side by side.
  @usableFromInline var changed: [NodeNumber] = []
  @usableFromInline var causes: [AnyReference] = []

  /// What may not be known by anyone any more.
  @usableFromInline var loose: [NodeNumber] = []

  /// Who is to be told of the types that were touched.
  @usableFromInline var notices: [Notice] = []

  /// What is to be released after the unlock.
  @usableFromInline var released: [any Sendable] = []

  @usableFromInline
  init(now: Int64, isSilent: Bool = false) {
    self.now = now
    self.isSilent = isSilent
  }
}
