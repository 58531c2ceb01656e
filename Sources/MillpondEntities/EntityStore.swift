public import MillpondCore
public import MillpondSignals

/// Keeps entities flat, each once, and tells who observes them of every change, also of what they
/// refer to.
///
///     let store = EntityStore()
///     store.set(author)
///     store.update { books in
///       for book in page { books.set(book) }
///     }
///     let subscription = store.signal(of: book.reference).subscribe(onNext: { show($0.value) })
///
/// A write is there when the call returns. Writes of several threads follow one another, and each
/// merges with what is there by then, so that none is lost. Observers are told after that, in the
/// order of the commits, one notice each for a commit; what they write meanwhile is there at once,
/// and is told after what is being told.
///
/// Observers are kept by the store, not the store by them: released, it ends their signals with
/// ``SignalError/abandoned(origin:)``.
///
/// - Note: Any thread. Readers wait for nobody but for moments; writers wait for the transaction
///   that runs. Observers are told by the thread that wrote, or by one that is still telling others.
/// - Complexity: A write is O(*n*) in what it writes, what that refers to, and those who are observed
///   and refer to that, and what lies between; never in what is stored.
public final class EntityStore: Sendable {
  @usableFromInline let core: EntityCore
  package let scope: CacheScope?
  private let membership: ScopedDisposable?

  /// Keeps nothing yet.
  ///
  /// - Parameters:
  ///   - countLimit: How many entities are kept. When there are more, those go that were not used for
  ///     longest; what is in use stays, as for ``prune(unusedFor:)``, even beyond the limit. Where what
  ///     goes out of use does so with references that end, a store of more than 1,024 entities may
  ///     exceed the limit by up to an eighth of what it keeps until more references have ended.
  ///   - scope: With which it ends, as by ``end()``; the scope does not keep it.
  ///   - clock: By which it is told what was not used for how long; in steps of a few milliseconds
  ///     where it is the continuous one.
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
    core.failAll(SignalError.abandoned(origin: nil))
  }

  // MARK: Reading

  /// The entity, as the last commit left it; within a transaction, as that has left it so far.
  @inlinable
  public func get<E>(_ reference: Reference<E>) -> E? {
    core.get(reference)
  }

  /// How many entities there are, of all types.
  public var count: Int {
    core.count
  }

  // MARK: Writing

  /// Keeps `entity`, merged with what is there if it is ``Mergeable``.
  @inlinable
  public func set<E: Entity>(_ entity: E) {
    core.set(entity)
  }

  /// Keeps the entity no more; what refers to it stays as it is, and is told.
  ///
  /// Removing what is absent is no change.
  @inlinable
  public func remove<E>(_ reference: Reference<E>) {
    core.remove(reference)
  }

  /// Keeps no entities of this type any more.
  @inlinable
  public func removeAll<E: Entity>(of type: E.Type) {
    core.removeAll(of: type)
  }

  /// Keeps nothing any more.
  public func removeAll() {
    core.removeAll()
  }

  /// Runs several reads and writes as one: all of it is committed when `changes` returns, and nothing
  /// of it if that throws.
  ///
  /// Reads within see what has been written within. Others see what was there before, and don't
  /// wait; observers get one notice each, after the commit. An update within an update is part of
  /// it; if the inner one throws, what that one wrote is undone. The later of two writes
  /// to one entity wins, or is merged, whether it is set in a transaction or alone.
  ///
  /// Other writers wait until `changes` returns, so it must not wait for any of them.
  @inlinable
  public func update<Result, Failure>(
    _ changes: (EntityTransaction) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let transaction = EntityTransaction(core: core)
    return try core.write { () throws(Failure) in try changes(transaction) }
  }
}

/// Reads and writes that belong together, see ``EntityStore/update(_:)``.
///
/// Of use on the thread and during the update that it is given to. What is written by it later is
/// just written.
public struct EntityTransaction {
  @usableFromInline let core: EntityCore

  @inlinable
  init(core: EntityCore) {
    self.core = core
  }

  /// The entity, as the transaction has left it so far.
  @inlinable
  public func get<E>(_ reference: Reference<E>) -> E? {
    core.get(reference)
  }

  /// Keeps `entity`, merged with what is there if it is ``Mergeable``.
  @inlinable
  public func set<E: Entity>(_ entity: E) {
    core.set(entity)
  }

  /// Keeps the entity no more.
  @inlinable
  public func remove<E>(_ reference: Reference<E>) {
    core.remove(reference)
  }

  /// Keeps no entities of this type any more.
  @inlinable
  public func removeAll<E: Entity>(of type: E.Type) {
    core.removeAll(of: type)
  }

  /// Keeps nothing any more.
  public func removeAll() {
    core.removeAll()
  }
}

@available(*, unavailable)
extension EntityTransaction: Sendable {}

extension EntityStore {
  /// Ends the time of a user: at its return nothing is stored, and nobody waits for anything from
  /// before.
  ///
  /// Who observes or waits gets ``CacheError/scopeEnded`` before this returns, and nothing of the
  /// removals; one whose callback runs on another thread meanwhile gets it right after that. What
  /// sources were asked for before is not stored. What is set and asked afterwards belongs to the
  /// next user. Not to be called within a transaction, which would be committed after it.
  ///
  /// A store that is made with a ``CacheScope`` ends with that.
  public func end() {
    core.end()
  }
}

extension EntityCore {
  func end() {
    removeAll(isSilent: true)
    failAll(CacheError.scopeEnded)
  }
}

extension EntityStore {
  /// Drops what is not in use.
  ///
  /// In use is what is observed, retained, or of a type that a live query shows; what was set, asked
  /// for, brought by a source, observed or retained within `age`; and all that these refer to, however
  /// indirectly. Nobody is told, since nobody observes what goes. Within a transaction it is done after
  /// the commit; a transaction that throws prunes nothing. Entities go in steps: a reader meanwhile may
  /// find some of what goes and not the rest.
  ///
  /// - Parameter age: How long something must not have been used to go; of zero, it needs not.
  /// - Complexity: O(*n*) in what is stored; other writers wait meanwhile, readers do not, but where
  ///   so much has gone that memory is given back.
  public func prune(unusedFor age: Duration = .zero) {
    core.prune(unusedFor: age)
  }

  /// Keeps an entity, and what it refers to, from being dropped for room, or as unused.
  ///
  /// There need not be such an entity yet. Each call counts.
  ///
  /// - Returns: The handle that gives it up again; dropping it does not.
  public func retain<E>(_ reference: Reference<E>) -> Disposable {
    core.retain(reference)
  }
}

extension EntityCore {
  /// - Returns: The handle that gives it up again, and does not keep what is stored.
  @inlinable
  func retain<E>(_ reference: Reference<E>) -> Disposable {
    let node = tables.withLock { $0.retain(reference.id, in: E.self) }
    return Disposable { [weak self] in self?.release(node) }
  }

  @usableFromInline
  func release(_ node: NodeNumber) {
    let now = time.now()
    let released = tables.withLock { $0.release(node, now) }
    _ = released  // released here, not under the lock
  }
}
