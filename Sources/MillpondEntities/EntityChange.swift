/// An entity as it is after a change, and what has changed.
public struct EntityChange<E: Entity>: Sendable {
  /// The entity; nil where there is none, not yet or not any more.
  public let value: E?

  /// What has changed: the entity itself, or others that it refers to, however indirectly.
  ///
  /// Each once; type by type, and in the order in which the transaction came to them. Empty at first,
  /// when the value is what was there at the subscription.
  public let causes: [AnyReference]

  @inlinable
  init(value: E?, causes: [AnyReference]) {
    self.value = value
    self.causes = causes
  }

  /// Whether `reference` is among the causes.
  public func isCaused<Target>(by reference: Reference<Target>) -> Bool {
    causes.contains(AnyReference(reference))
  }
}

extension EntityChange: Equatable {}
