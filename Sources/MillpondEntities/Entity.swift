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
