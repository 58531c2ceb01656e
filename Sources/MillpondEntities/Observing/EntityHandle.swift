import MillpondCore
public import MillpondSignals

extension EntityStore {
  /// Returns a handle to an entity, whether or not the entity exists yet.
  ///
  ///     let book = store.handle(to: Reference<Book>(7))
  ///     print(book.value?.title ?? "none")
  ///     book.changes.subscribe(onNext: { show($0.value) })
  ///
  /// The handle is for objects that keep an entity for a while, such as a view model: it protects
  /// the entity from eviction, and ends its subscriptions when it is released. For a single read,
  /// use ``get(_:)-(Reference<E>)``; for a single subscription, ``signal(of:)``; for a view,
  /// `SignalState`.
  ///
  /// - Parameter reference: The reference to the entity.
  @inlinable
  public func handle<E>(to reference: Reference<E>) -> EntityHandle<E> {
    EntityHandle(reference, core)
  }
}

/// A handle to an entity of a store: its present value and its changes, on any thread.
///
/// While the handle exists, the entity and those it refers to are in use: they are neither evicted
/// nor pruned. When it is released, the subscriptions of ``changes`` complete.
///
/// A handle outlasts ``EntityStore/end()``: its subscriptions fail, and then it refers to the
/// entity of the next user. It does not retain the store; after the release of the store, ``value``
/// is the last one, and ``changes`` fail with `SignalError.abandoned(origin:)`.
///
/// - Note: Any thread. A handle costs a commit nothing; its subscriptions are ordinary ones.
@_fixed_layout
public final class EntityHandle<E: Entity>: Sendable {
  /// The reference to the entity.
  public let reference: Reference<E>

  @usableFromInline let core: EntityCore
  @usableFromInline let retention: Disposable
  @usableFromInline let lifetime = Lifetime()

  @inlinable
  init(_ reference: Reference<E>, _ core: EntityCore) {
    self.reference = reference
    self.core = core
    retention = core.retain(reference)
  }

  deinit {
    retention.dispose()
    lifetime.end()
  }

  /// The entity as of the last commit, nil if it does not exist; inside a transaction, as of its
  /// latest write.
  public var value: E? {
    core.get(reference)
  }

  /// The entity now and after each change, as sent by ``EntityStore/signal(of:)``, until the handle
  /// is released.
  ///
  /// The signal does not retain the handle: subscribed to without one, it completes.
  public var changes: Signal<EntityChange<E>> {
    core.signal(of: reference).ended(with: lifetime, .completed)
  }
}

extension Signal {
  /// Passes everything on until a lifetime ends, and then sends `event`.
  func ended(with lifetime: Lifetime, _ event: Event<Never>) -> Signal {
    ended { run, end in
      let link = lifetime.child()
      run.onEnd { link.end() }
      link.onEnd { if !run.isEnded { end(event) } }
    }
  }
}
