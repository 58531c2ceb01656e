import MillpondSignals
public import Observation

/// An entity for a view to observe.
///
///     @State private var book: EntityState<Book>
///     …
///     Text(book.value?.title ?? "")
///
/// It is there when this is made; the subscription ends with the object.
///
/// - Note: Main actor. Who writes to the store may be on any thread; then the change takes a hop.
@MainActor
public final class EntityState<E: Entity>: Observable {
  /// Whom it follows.
  public let reference: Reference<E>

  private let state: SignalState<EntityChange<E>>

  /// Follows an entity of a store, whether or not there is one yet.
  public init(_ reference: Reference<E>, in store: EntityStore) {
    self.reference = reference
    state = SignalState(following: store.signal(of: reference))
  }

  /// The entity; nil where there is none.
  public var value: E? {
    state.value?.value
  }

  /// What has changed last: the entity, or what it refers to.
  public var causes: [AnyReference] {
    state.value?.causes ?? []
  }

  /// Why nothing comes any more: the store has ended, or is gone.
  public var error: (any Error)? {
    state.error
  }
}
