public import MillpondCore
import MillpondSignals

/// The new state of one entity in a transaction.
@usableFromInline
@frozen
struct Edit<E: Entity>: Sendable {
  @usableFromInline let id: E.ID

  /// The state before the commit; its value is released with this edit.
  @usableFromInline var stored: StoredEntity<E>

  /// The new value, and the optimistic writes that have made it; nil removes the entity.
  @usableFromInline var value: E?
  @usableFromInline var layers: OptimisticValues<E>?

  /// The place of the confirmed value in the order of writes.
  @usableFromInline var order = EditOrder.fill

  /// Whether the visible value changes, and whether the confirmed one does.
  @usableFromInline var isChange = false
  @usableFromInline var isConfirmedChange = false

  /// The ranges of the references of the value, and of the values hidden below it.
  @usableFromInline var targets = 0..<0
  @usableFromInline var hiddenTargets = 0..<0

  /// Creates an edit that changes nothing yet.
  @inlinable
  init(_ id: E.ID, _ stored: StoredEntity<E>) {
    self.id = id
    self.stored = stored
    value = stored.value
    layers = stored.layers
  }

  /// Whether the entity has or had optimistic values.
  @inlinable
  var isOptimistic: Bool {
    layers != nil || stored.layers != nil
  }

  /// The value below the optimistic ones.
  @inlinable
  var confirmed: E? {
    if let layers { layers.confirmed } else { value }
  }

  /// Makes a change at its place.
  ///
  /// - An optimistic one lies above all others.
  /// - An ordinary one has the place of its revision, and is confirmed there; that of a write that
  ///   is made now is the last.
  /// - A fill, which is no write, lies below all that wait.
  @inlinable
  mutating func apply(_ change: ValueChange<E>, _ order: EditOrder) {
    if layers != nil || order.isOptimistic { return applyInLayers(change, order) }
    self.order = order
    value = change(value)
  }

  @usableFromInline
  mutating func applyInLayers(_ change: ValueChange<E>, _ order: EditOrder) {
    let layers = layers ?? OptimisticValues(value)
    if case .optimistic(let revision) = order {
      show(layers.adding(change, revision))
    } else {
      self.order = order
      show(
        order.isFill
          ? layers.rebased(on: change(layers.confirmed))
          : layers.adding(change, confirmedAt: order.revision))
    }
  }

  mutating func show(_ values: OptimisticValues<E>) {
    value = values.visible
    layers = values.layers.isEmpty ? nil : values
  }
}

/// A change of the value of an entity, which can be made anew when the value below it is another.
@usableFromInline
enum ValueChange<E: Entity>: Sendable {
  /// Sets a value, merged with the present one.
  case set(E)

  /// Sets a former value, unless there is a newer one, with which it is merged.
  case restore(E)

  /// Changes the present value, if there is one; its identity stays.
  case edit(@Sendable (inout E) -> Void)
  case remove

  @inlinable
  func callAsFunction(_ old: E?) -> E? {
    switch self {
    case .set(let value): return old.map { value.replacing($0) } ?? value
    case .restore(let value): return old.map { $0.replacing(value) } ?? value
    case .edit(let change):
      guard var new = old else { return nil }
      change(&new)
      return new.id == old?.id ? new : old
    case .remove: return nil
    }
  }

  /// Whether it leaves nothing of the value below.
  var isWhole: Bool {
    switch self {
    case .set: !(E.self is any Mergeable.Type)
    case .restore, .edit: false
    case .remove: true
    }
  }
}

/// The place of an edit in the order of writes.
@usableFromInline
enum EditOrder: Sendable {
  /// A fill, which is not a write.
  case fill

  /// The revision of the commit; inside the transaction, later than all revisions drawn so far.
  case commit(after: Revision)

  /// A revision of its own, drawn before the write reached the store.
  case drawn(Revision)

  /// The revision of an optimistic write, later than all others. An edit has the order of its
  /// confirmed value, so never this one.
  case optimistic(Revision)

  /// The order of a write that is made now.
  @inlinable
  static var now: EditOrder {
    .commit(after: .present)
  }

  @inlinable
  var isFill: Bool {
    if case .fill = self { true } else { false }
  }

  @inlinable
  var isOptimistic: Bool {
    if case .optimistic = self { true } else { false }
  }

  /// Returns the revision of the write in a commit; that of a fill is none.
  @inlinable
  func written(in commit: Revision) -> Revision {
    if case .commit = self { commit } else { revision }
  }

  /// The revision to compare within the transaction; that of a fill comes before all writes.
  @inlinable
  var revision: Revision {
    switch self {
    case .fill, .optimistic: .none
    case .commit(let revision), .drawn(let revision): revision
    }
  }
}
