public import MillpondCore
public import MillpondSignals

/// A normalised, observable store, which keeps each entity once.
///
///     let store = EntityStore()
///     store.set(author)
///     store.update { books in
///       for book in page { books.set(book) }
///     }
///     let subscription = store.signal(of: book.reference).subscribe(onNext: { show($0.value) })
///
/// Observers of an entity are notified of its changes, and of changes of the entities it refers to.
/// A write is visible when the call returns. Writes of several threads follow one another, and each
/// merges with the stored value, so none is lost. Observers are notified after that, in the order
/// of the commits, at most once for each commit. A write inside a notification is visible at once,
/// and is announced after the notices in progress.
///
/// The store retains its observers, not the other way round. When it is released, it ends their
/// signals with `SignalError.abandoned(origin:)`.
///
/// - Note: Any thread. Readers wait for short critical sections only; writers wait for the running
///   transaction. Notifications run on the thread that wrote, or on one that is still notifying.
/// - Complexity: A write is O(*n*) in the written entities, their references, the observed entities
///   that refer to them, and those in between; never in the number of stored entities. A commit is
///   one critical section, and so is an eviction: readers wait for some milliseconds while 10,000
///   of 100,000 entities change, a thousand of which are observed.
public final class EntityStore: Sendable {
  @usableFromInline let core: EntityCore
  package let scope: CacheScope?
  private let membership: ScopedDisposable?

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - countLimit: The number of entities to keep. With a set beyond it, the least recently used
  ///     are evicted, up to a sixteenth of the limit. Such a set takes O(*n*) in the stored entities,
  ///     which is O(1) for each set. Entities in use stay, as for ``prune(unusedFor:)``, even beyond
  ///     the limit. If entities go out of use only because references to them end, a store of more
  ///     than 1,024 entities may exceed the limit by up to an eighth of its entities, until more
  ///     references have ended.
  ///   - scope: A scope that ends the store as ``end()`` does; the scope does not retain the store.
  ///   - clock: The clock that measures the time since the last use; the continuous clock in steps
  ///     of a few milliseconds.
  public init(
    countLimit: Int = .max, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    let core = EntityCore(countLimit: countLimit, CoarseTime(clock))
    self.core = core
    self.scope = scope
    let erase: @Sendable () -> Signal<Void> = { [weak core] in
      core?.end()
      return .just(())
    }
    membership = scope?.add(erase: erase).scoped()
  }

  deinit {
    core.close(SignalError.abandoned(origin: nil))
  }

  // MARK: Reading

  /// Returns the entity as of the last commit; inside a transaction, as of its latest write.
  ///
  /// - Parameter reference: The reference to the entity.
  @inlinable
  public func get<E>(_ reference: Reference<E>) -> E? {
    core.get(reference)
  }

  /// Returns those of the entities that exist, in the order of the references, all as of the same
  /// commit; inside a transaction, as of its latest writes.
  ///
  ///     let books = store.get(author.books)
  ///
  /// - Complexity: O(*n*) in the references; other readers wait meanwhile.
  @inlinable
  public func get<E>(_ references: some Sequence<Reference<E>>) -> [E] {
    // The user's sequence is not iterated under the lock.
    let references = Array(references)
    if core.turn.isMine() { return references.compactMap { get($0) } }
    let now = core.time.now()
    return core.tables.withLock { tables in
      let table = tables.table(E.self)
      return references.compactMap { table.read($0.id, at: now) }
    }
  }

  /// Returns the entity of an optional reference, such as a relation that may be absent.
  @inlinable
  public func get<E>(_ reference: Reference<E>?) -> E? {
    reference.flatMap { get($0) }
  }

  /// The number of stored entities, of all types.
  public var count: Int {
    core.tables.withLock { $0.storedCount }
  }

  // MARK: Writing

  /// Stores `entity`, merged with the stored value if it is ``Mergeable``.
  @inlinable
  public func set<E: Entity>(_ entity: E) {
    if core.turn.isMine() {
      return core.edits(of: E.self).write(entity.id, core.transaction.order, .set(entity))
    }
    let (left, mustDeliver) = core.turn.take { core.setAlone(entity) }
    withExtendedLifetime(left) {}  // released here, when others may write again
    if mustDeliver { core.deliver() }
  }

  /// Stores several entities of a type in one commit, each as ``set(_:)-(E)`` does.
  @inlinable
  public func set<E: Entity>(_ entities: some Sequence<E>) {
    update { store in
      for entity in entities { store.set(entity) }
    }
  }

  /// Removes the entity; entities that refer to it keep their references, and their observers are
  /// notified.
  ///
  /// Removing an absent entity is no change.
  @inlinable
  public func remove<E>(_ reference: Reference<E>) {
    core.inTurn { core.edits(of: E.self).write(reference.id, core.transaction.order, .remove) }
  }

  /// Removes all entities of this type.
  @inlinable
  public func removeAll<E: Entity>(of type: E.Type) {
    core.inTurn { core.edits(of: type).removeAll(core.transaction.order) }
  }

  /// Removes all entities.
  public func removeAll() {
    core.removeAll()
  }

  /// Runs several reads and writes as one transaction, which is committed when `changes` returns.
  ///
  /// A function of entities can be a transaction of its own, or a part of its caller's:
  ///
  ///     func publish(_ book: Reference<Book>, in store: EntityStore) {
  ///       store.update { store in
  ///         guard var found = store.get(book) else { return }
  ///         found.isPublished = true
  ///         store.set(found)
  ///       }
  ///     }
  ///
  /// If `changes` throws, nothing is committed. Reads inside the transaction see its writes. Other
  /// readers see the state before it, and do not wait. Observers get at most one notice each, after
  /// the commit. An update inside an update is part of it; if the inner one throws, only its own
  /// writes are undone. Of two writes to one entity, the later wins or is merged, inside a
  /// transaction or outside.
  ///
  /// Other writers wait until `changes` returns, so it must not wait for any of them.
  ///
  /// - Parameter changes: Reads and writes this store, which it receives, on the calling thread.
  @inlinable
  public func update<Result, Failure>(
    _ changes: (EntityStore) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try core.write { () throws(Failure) in try changes(self) }
  }
}

extension EntityStore {
  /// Ends the session of a user: when it returns, nothing is stored, and no subscriber waits for
  /// earlier data.
  ///
  /// Every observer and waiting subscriber fails with `CacheError.scopeEnded` before this
  /// returns, without notices of the removals; one whose callback is running on another thread
  /// fails right after it. Answers to earlier requests are not stored. Later writes and requests
  /// belong to the next user. Must not be called inside a transaction, which would be committed
  /// after it.
  ///
  /// A store that was created with a `CacheScope` ends with that scope.
  public func end() {
    core.end()
  }
}

extension EntityCore {
  func end() {
    var session: Lifetime?
    inTurn {
      removeAll(isEnd: true)
      session = tables.withLock { exchange(&$0.observers.session, with: Lifetime()) }
    }
    session?.end()
    failAll(CacheError.scopeEnded())
  }
}

extension EntityStore {
  /// Drops the entities that are not in use.
  ///
  /// An entity is in use if it is observed, retained, or of a type that a live query shows; if it
  /// was set, read, brought by a source, observed or retained within `age`; or if an entity in use
  /// refers to it, directly or indirectly. No observers are notified, since dropped entities have
  /// none. Inside a transaction, it runs after the commit; a transaction that throws prunes
  /// nothing.
  ///
  /// - Parameter age: The time without use after which an entity is dropped; with zero, recent use
  ///   does not count.
  /// - Complexity: O(*n*) in the number of stored entities.
  public func prune(unusedFor age: Duration = .zero) {
    // At the end of the running transaction, if there is one.
    core.inTurn { core.transaction.pruning = min(age, core.transaction.pruning ?? age) }
  }

  /// Protects an entity, and the entities it refers to, from eviction and pruning.
  ///
  /// The entity need not exist yet. Calls are counted.
  ///
  /// - Parameter reference: The reference to the entity.
  /// - Returns: The handle that ends the protection; releasing the handle does not.
  @inlinable
  public func retain<E>(_ reference: Reference<E>) -> Disposable {
    core.retain(reference)
  }
}

extension EntityCore {
  /// Retains an entity.
  ///
  /// - Returns: The handle that releases the entity, without retaining the store.
  @inlinable
  func retain<E>(_ reference: Reference<E>) -> Disposable {
    tables.withLock { $0.retain($0.table(E.self).node(of: reference.id, in: &$0.graph)) }
    return Disposable { [weak self] in self?.release(reference) }
  }

  @usableFromInline
  func release<E>(_ reference: Reference<E>) {
    let now = time.now()
    tables.discard { tables in
      tables.table(E.self).knownNode(of: reference.id).flatMap { tables.release($0, now) }
    }
  }
}
