public import MillpondCore
import MillpondSignals

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
