public import MillpondSignals

/// A value with an identity, of which an ``EntityStore`` keeps one per identity.
///
///     struct Book: Entity {
///       let id: Int
///       var title: String
///       var author: Reference<Author>
///
///       static let relations: [Relation<Book>] = [Relation(\.author)]
///     }
///
/// Two values of one type with equal identities are versions of one entity. Setting a value that
/// equals the stored one is no change: the stored one stays, and no observer is notified. So `==`
/// must compare everything that is to be seen; one that compares identities alone, as some list
/// views ask for, would drop every later set. Leave it to the compiler, and compare `reference`
/// where identities matter. Prefer structs: a stored value must not change by itself.
public protocol Entity: Identifiable, Equatable, Sendable where ID: Sendable {
  /// The references of this type, so that observers are notified of changes there as well.
  ///
  /// Empty by default. The store reads it once.
  static var relations: [Relation<Self>] { get }

  /// Returns the value to store when this is set in place of `older`.
  ///
  /// By default this value; for a ``Mergeable`` entity, both merged. Other writers wait during the
  /// call.
  func replacing(_ older: Self) -> Self
}

extension Entity {
  /// No relations.
  @inlinable
  public static var relations: [Relation<Self>] { [] }

  /// Returns this value.
  ///
  /// - Parameter older: The stored value.
  @inlinable
  public func replacing(_ older: Self) -> Self {
    self
  }

  /// The reference by which other entities refer to this one.
  @inlinable
  public var reference: Reference<Self> {
    Reference(id)
  }
}

/// An entity that may be known in part: a set completes the stored value.
///
/// It is merged by every kind of set: alone, in a transaction, or by a source. To replace it,
/// remove it first. Declare this conformance together with that to ``Entity``, in the same module.
public protocol Mergeable: Entity {
  /// Returns this value, completed and overwritten by the parts that `newer` knows.
  func merged(with newer: Self) -> Self
}

extension Mergeable {
  /// Returns both values, merged.
  ///
  /// - Parameter older: The stored value.
  @inlinable
  public func replacing(_ older: Self) -> Self {
    older.merged(with: self)
  }
}

/// A reference to an entity by its identity, whether or not the entity is stored.
///
/// References to different types are never equal, whatever their types and identities are called.
@frozen
public struct Reference<Target: Entity>: Hashable, Sendable {
  /// The identity of the entity.
  public let id: Target.ID

  /// Creates the reference to the entity with this identity.
  ///
  /// - Parameter id: The identity of the entity.
  @inlinable
  public init(_ id: Target.ID) {
    self.id = id
  }
}

/// The references from entities of one type to others, declared once in ``Entity/relations``.
///
///     static let relations: [Relation<Author>] = [Relation(\.books), Relation(\.agent)]
///
/// A key path is converted to a closure here; no reflection is used.
@frozen
public struct Relation<Owner: Entity>: Sendable {
  @usableFromInline let read: @Sendable (Owner, inout RelatedEntities) -> Void

  /// Creates a relation from a closure that returns a reference, an optional one, or an array or
  /// set of them.
  ///
  /// - Parameter references: Must depend on the entity alone. Called once for each value that is
  ///   set, while other writers wait.
  @inlinable
  public init<Related: References>(_ references: @escaping @Sendable (Owner) -> Related) {
    read = { owner, entities in references(owner).add(to: &entities) }
  }
}

/// The references found in an entity.
@frozen
public struct RelatedEntities {
  /// The nodes of the references, which the store keeps until the transaction is committed.
  @usableFromInline var targets: [NodeNumber]
  @usableFromInline let tables: Locked<EntityTables>

  @inlinable
  init(_ tables: Locked<EntityTables>, _ targets: [NodeNumber] = []) {
    self.tables = tables
    self.targets = targets
  }

  /// Adds a reference.
  @inlinable
  public mutating func add<Target>(_ reference: Reference<Target>) {
    let target = tables.withLock { tables in
      // Kept until the next commit.
      tables.isReferring = true
      return tables.table(Target.self).node(of: reference.id, in: &tables.graph)
    }
    targets.append(target)
  }
}
