package import MillpondCore
public import MillpondSignals
public import Observation

extension EntityStore {
  /// The entity as it is, and from then on each time it changes: by itself, by something that it
  /// refers to, however indirectly, or by its removal.
  ///
  ///     store.signal(of: book).subscribe(onNext: { change in
  ///       title.text = change.value?.title ?? "gone"
  ///     })
  ///
  /// The first value comes inside the subscription, also where there is no such entity. A commit
  /// gives one value at most, and names its causes; a set that changes nothing gives none. It never
  /// completes. Where changes come faster than they can be shown,
  /// ``Signal/throttle(_:_:clock:)`` keeps the latest.
  ///
  /// - Complexity: O(*n*) to subscribe, in what the entity refers to that nobody observes yet.
  @inlinable
  public func signal<E>(of reference: Reference<E>) -> Signal<EntityChange<E>> {
    core.signal(of: reference)
  }
}

extension EntityCore {
  @inlinable
  func signal<E>(of reference: Reference<E>) -> Signal<EntityChange<E>> {
    Signal { observer, lifetime in
      let watch = Watch<EntityChange<E>>(observer, lifetime)
      watch.open { .next(EntityChange(value: self.observe(reference, watch), causes: [])) }
    }
  }

  /// The entity as long as there is one.
  @inlinable
  func values<E>(of reference: Reference<E>) -> Signal<E> {
    // No key path, which would be made anew by each call that is not specialised.
    signal(of: reference).take { $0.value != nil }.compactMap { $0.value }
  }

  /// Lets `watch` be told of an entity from now on; gives what it is by now.
  @inlinable
  func observe<E>(
    _ reference: Reference<E>, _ watch: Watch<EntityChange<E>>
  ) -> E? {
    let now = time.now()
    let (node, number, value) = enter(watch) { tables, observers, number in
      let table = tables.table(E.self)
      let node = table.node(of: reference.id, in: &tables.graph)
      let notice = NodeWatch { row, causes in
        let change = EntityChange(value: table.rows[Int(row)].value, causes: causes)
        return { watch.post(.next(change)) }
      }
      observers.add(notice, number, of: node, in: &tables)
      let row = tables.graph.nodes[Int(node)].row
      table.touch(row, now)
      return (node, number, table.rows[Int(row)].value)
    }
    watch.lifetime.onEnd { [self] in
      let now = time.now()
      let released = withLock { $1.remove(number, of: node, in: &$0, now) }
      _ = released  // released here, not under the lock
    }
    return value
  }
}

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

/// For those who keep a copy of what is in a store: they see everything, the removals of ``end()``
/// and of ``prune(unusedFor:)`` included, and outlast an end.
extension EntityStore {
  /// All of a type, and then what each commit has changed of it.
  package func edits<E: Entity>(of type: E.Type) -> Signal<[TableEdit<E>]> {
    core.edits(of: type, isQuery: false)
  }

  /// A value each time when all edits of a commit have been sent.
  package var commits: Signal<Void> {
    Signal { [core] observer, lifetime in
      let watch = Watch<Void>(observer, lifetime)
      let number = core.withLock { _, observers in
        let number = observers.nextNumber()
        observers.commitListeners[number] = { watch.post(.next(())) }
        return number
      }
      watch.lifetime.onEnd {
        let released = core.withLock { $1.commitListeners.removeValue(forKey: number) }
        _ = released  // released here, not under the lock
      }
    }
  }

  /// Runs `body` when all are told of what has been committed by now.
  package func afterTelling(_ body: @escaping @Sendable () -> Void) {
    core.afterTelling(body)
  }

  /// Keeps an entity as it once was, unless something was written to it since the token was drawn, or a
  /// newer one is there, with which it is merged.
  package func restore<E: Entity>(_ entity: E, _ token: FillToken) {
    core.restore(entity, token)
  }
}
