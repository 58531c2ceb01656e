import MillpondCore

/// The values of an entity with optimistic writes: the confirmed one, and those that wait for their
/// outcome.
@usableFromInline
final class OptimisticValues<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  /// The value of an optimistic write; nil for a removal.
  struct Layer: Sendable {
    let revision: Revision
    let value: E?
  }

  /// The value that is stored if all that wait are refused.
  @usableFromInline let confirmed: E?

  /// The values that wait, the latest last; there is at least one.
  let layers: [Layer]

  init(_ confirmed: E?, _ layers: [Layer]) {
    self.confirmed = confirmed
    self.layers = layers
  }

  /// The value that readers see.
  var visible: E? {
    layers.last.flatMap(\.value)
  }

  /// The values that may become visible later.
  var hidden: [E] {
    ([confirmed] + layers.dropLast().map(\.value)).compactMap(\.self)
  }

  func contains(_ revision: Revision) -> Bool {
    layers.contains { $0.revision == revision }
  }

  /// Returns these values with a later one, which replaces a former one of the same write.
  func adding(_ value: E?, _ revision: Revision) -> OptimisticValues {
    let others = layers.filter { $0.revision != revision }
    return OptimisticValues(confirmed, others + [Layer(revision: revision, value: value)])
  }

  /// Returns the values of writes after `revision`, above another confirmed value; nil if there are
  /// none.
  func later(than revision: Revision, above confirmed: E?) -> OptimisticValues? {
    let later = layers.filter { $0.revision > revision }
    return later.isEmpty ? nil : OptimisticValues(confirmed, later)
  }
}

/// The optimistic values of an entity in a table, and the nodes that are retained for them: that of
/// the entity, and those that hidden values refer to.
@usableFromInline
struct OptimisticRow<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  @usableFromInline let values: OptimisticValues<E>
  let nodes: [NodeNumber]
}

/// The change of an entity's optimistic values in a commit.
@usableFromInline
struct OptimisticEdit<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  let id: E.ID

  /// The values after the commit; nil if none waits.
  let values: OptimisticValues<E>?

  /// The range of the references of the hidden values.
  let held: Range<Int>

  /// The change of the confirmed value; nil if it stays.
  let confirmed: TableEdit<E>?
}
