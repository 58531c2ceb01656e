package import MillpondCore
public import MillpondSignals

extension EntityStore {
  /// Returns the entity now and after each change: of itself, of an entity it refers to, or its
  /// removal.
  ///
  ///     store.signal(of: book).subscribe(onNext: { change in
  ///       title.text = change.value?.title ?? "gone"
  ///     })
  ///
  /// References count directly and indirectly; for changes of the entity alone, filter by
  /// ``EntityChange/causes``. For a list at a given depth, see ``query(_:where:by:depth:)``. The
  /// first value is sent inside the subscription, even if there is no such entity. A commit sends
  /// at most one value, with its causes; a set that changes nothing sends none. The signal never
  /// completes. If changes are faster than the display, `Signal.throttle(_:latest:clock:)` keeps the
  /// latest.
  ///
  /// Values arrive on the thread that writes, or on one that is still notifying. To receive them
  /// elsewhere, as those of queries and handles too, say where:
  ///
  ///     store.signal(of: book).subscribeOnMain(onNext: { show($0.value) })
  ///     store.signal(of: book).receive(on: queue).subscribe(onNext: { index($0.value) })
  ///     for try await change in store.signal(of: book).values { … }  // in any actor
  ///     @State var book = SignalState(following: store.signal(of: book))  // in a view
  ///
  /// - Parameter reference: The reference to the entity.
  /// - Complexity: O(*n*) to subscribe, in the referenced entities that are not observed yet.
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

  /// Returns the values of the entity until it is absent, and completes then.
  @inlinable
  func values<E>(of reference: Reference<E>) -> Signal<E> {
    // No key path, because each unspecialised call would make it anew.
    signal(of: reference).take { $0.value != nil }.compactMap { $0.value }
  }

  /// Registers `watch` for changes of an entity, and returns its present value.
  @inlinable
  func observe<E>(
    _ reference: Reference<E>, _ watch: Watch<EntityChange<E>>
  ) -> E? {
    let now = time.now()
    let (number, value) = enter(watch) { tables, number in
      let table = tables.table(E.self)
      let node = table.node(of: reference.id, in: &tables.graph)
      let notice = NodeObserver { row, causes in
        let change = EntityChange(value: table.rows[Int(row)].value, causes: causes)
        return Notice(for: number) { watch.post(.next(change)) }
      }
      tables.add(number, of: node, notice)
      return (number, table.read(reference.id, at: now))
    }
    watch.lifetime.onEnd { [self] in
      let now = time.now()
      tables.discard { tables in
        tables.table(E.self).knownNode(of: reference.id)
          .map { tables.removeObserver(number, of: $0, now) }
      }
    }
    return value
  }
}

/// An entity after a change, with the causes of the change.
@frozen
public struct EntityChange<E: Entity>: Sendable {
  /// The entity; nil if it does not exist now.
  public let value: E?

  /// The changed entities: the observed one, or others that it refers to, directly or indirectly.
  ///
  /// Each entity occurs once; they are grouped by type, in the order in which the transaction
  /// reached them. Empty for the first value, which is the one at the subscription.
  public let causes: [AnyReference]

  @inlinable
  init(value: E?, causes: [AnyReference]) {
    self.value = value
    self.causes = causes
  }

  /// Returns whether `reference` is among the causes.
  public func isCaused<Target>(by reference: Reference<Target>) -> Bool {
    causes.contains(AnyReference(reference))
  }
}

extension EntityChange: Equatable {}

/// Observation for copies of a store, which see every edit, including the removals of ``end()`` and
/// ``prune(unusedFor:)``, and outlast an end.
extension EntityStore {
  /// Returns all entities of a type, and then the edits of each commit.
  package func edits<E: Entity>(of type: E.Type) -> Signal<[TableEdit<E>]> {
    core.edits(of: type, isQuery: false)
  }

  /// A signal that sends after all edits of a commit have been sent.
  package var commits: Signal<Void> {
    Signal { [core] observer, lifetime in
      let watch = Watch<Void>(observer, lifetime)
      let number = core.tables.withLock { tables in
        let number = tables.observers.nextNumber()
        tables.observers.commitListeners[number] = { watch.post(.next(())) }
        return number
      }
      watch.lifetime.onEnd {
        core.tables.discard { $0.observers.commitListeners.removeValue(forKey: number) }
      }
    }
  }

  /// Runs `body` after the notices of all commits so far.
  package func afterDelivery(_ body: @escaping @Sendable () -> Void) {
    core.afterDelivery(body)
  }

  /// Stores a former value of an entity, unless the entity was written since the token was drawn.
  ///
  /// A newer value from a source is kept, and merged with it.
  ///
  /// - Returns: Whether the entity is stored now, not counting optimistic writes.
  @discardableResult
  package func restore<E: Entity>(_ entity: E, _ token: FillToken) -> Bool {
    var isStored = false
    core.inTurn {
      let edits = core.edits(of: E.self)
      if core.admits(token, for: entity.reference) {
        edits.write(entity.id, .fill, .restore(entity))
      }
      isStored = edits.draft(of: entity.id).confirmed != nil
    }
    return isStored
  }
}
