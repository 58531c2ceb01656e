public import MillpondSignals

/// A value with an identity, of which an ``EntityStore`` keeps one for each identity.
///
///     struct Book: Entity {
///       let id: Int
///       var title: String
///       var author: Reference<Author>
///
///       static let relations: [Relation<Book>] = [Relation(\.author)]
///     }
///
/// Two of one type with equal identities are the same thing at different times. Setting one that
/// equals what is stored is no change. Prefer structs: what is stored must not change by itself.
public protocol Entity: Identifiable, Equatable, Sendable where ID: Sendable {
  /// What it refers to, so that whoever observes it is told of changes there as well.
  ///
  /// Nothing by default. The store reads it once.
  static var relations: [Relation<Self>] { get }

  /// What is kept when this is set in place of `older`.
  ///
  /// By default this; of a ``Mergeable`` entity, both merged. The store calls it while other writers
  /// wait.
  func replacing(_ older: Self) -> Self
}

extension Entity {
  /// Nothing.
  @inlinable
  public static var relations: [Relation<Self>] { [] }

  /// This, whatever was there.
  @inlinable
  public func replacing(_ older: Self) -> Self {
    self
  }

  /// What stands for this entity in others.
  @inlinable
  public var reference: Reference<Self> {
    Reference(id)
  }
}

/// An entity of which parts may be known: what is set completes what is stored.
///
/// It is merged whichever way it is set: alone, in a transaction, or by a source. Remove it first, to
/// have it replaced. Declare the conformance along with that to ``Entity``, in the same module.
public protocol Mergeable: Entity {
  /// This, with all that `newer` knows.
  func merged(with newer: Self) -> Self
}

extension Mergeable {
  /// Both, merged.
  @inlinable
  public func replacing(_ older: Self) -> Self {
    older.merged(with: self)
  }
}

/// Stands for an entity by its identity alone, whether or not there is one in a store.
///
/// References to two types are never mixed up, whatever the types and identities are called.
public struct Reference<Target: Entity>: Hashable, Sendable {
  /// Whom it stands for.
  public let id: Target.ID

  /// The reference to whoever has this identity.
  @inlinable
  public init(_ id: Target.ID) {
    self.id = id
  }
}

/// How entities of one type refer to others: it is declared once, in ``Entity/relations``.
///
///     static let relations: [Relation<Author>] = [Relation(\.books), Relation(\.agent)]
///
/// A key path becomes a closure here; nothing is found out by reflection.
public struct Relation<Owner: Entity>: Sendable {
  @usableFromInline let read: @Sendable (Owner, inout RelatedEntities) -> Void

  @inlinable
  init(read: @escaping @Sendable (Owner, inout RelatedEntities) -> Void) {
    self.read = read
  }
}

/// The references that were found in an entity.
public struct RelatedEntities {
  /// Their nodes, which the store keeps until the transaction is committed.
  @usableFromInline var targets: [NodeNumber]
  @usableFromInline let tables: Locked<EntityTables>

  @inlinable
  init(_ tables: Locked<EntityTables>, _ targets: [NodeNumber] = []) {
    self.tables = tables
    self.targets = targets
  }

  /// Adds one.
  @inlinable
  public mutating func add<Target>(_ reference: Reference<Target>) {
    targets.append(tables.withLock { $0.node(ofRelated: reference.id, in: Target.self) })
  }
}
