@_exported public import Millpond
public import MillpondCore
@_exported public import MillpondEntities
public import MillpondSignals

/// A copy of a store's entities on disk, from which they are restored at the next start.
///
///     let archive = EntityArchive(
///       of: store, in: DiskCache(directory: folder, byteLimit: .mebibytes(64)),
///       types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
///     let count = try await archive.restored.value
///
/// The stored entities are put into the store as if a source had sent them, so writes to the store
/// meanwhile win. From then on the disk follows the store in the background: sets, merges,
/// removals, and drops.
///
/// However the process ends, the restored state is that of the store after a commit, the last or an
/// earlier one. A transaction is restored as a whole or not at all, unless it takes more than 1 GiB.
/// After a power cut that holds for everything that ``flush(_:)->_`` has waited for. It does not hold
/// for damage: a damaged entity is missing, perhaps with others that were saved at once.
///
/// An archive keeps what it has: nothing is evicted or expires. If there is no room within the
/// disk's `byteLimit`, nothing of the changes that wait is saved, and ``flush(_:)->_`` fails with
/// `CacheError.full(layer:byteCount:limit:)` until entities have been removed, or the archive is
/// created with a larger limit. A value takes a quarter more than its size. While a transaction is
/// being saved, or moved by a compaction, the disk takes up to its size more than the limit.
///
/// Equal identities are one entity on disk as well, whatever they are encoded to.
///
/// An optimistic write is saved when it is confirmed: after a crash before that, the next start
/// begins without it.
///
/// After its release an archive still saves earlier commits.
///
/// Records that can't be decoded are removed from the disk, as removed entities are. Types that are
/// not listed are left alone.
///
/// An archive belongs to the scope of its store. The end of the scope removes everything from the
/// disk, including types that are not listed; its outcome waits for that, and fails if that fails.
/// If the process dies before the outcome has succeeded, create the store and the archive again at
/// the next start, in a scope, and end it.
///
/// - Note: No other user may write to the cache.
public final class EntityArchive: Sendable {
  fileprivate let store: EntityStore
  fileprivate let disk: DiskCache
  private let queue: ArchiveQueue
  private let following: [ScopedDisposable]
  private let restoring = Promise<Int>()
  private let membership: ScopedDisposable?

  /// Starts to restore entities, and to follow `store`.
  ///
  /// - Parameters:
  ///   - store: The store to restore and to follow.
  ///   - disk: A cache for this archive alone, of which the policy and the time to live do not
  ///     matter.
  ///   - types: The types to store; others are left out.
  public init(of store: EntityStore, in disk: DiskCache, types: [ArchivedType]) {
    self.store = store
    self.disk = disk
    let queue = ArchiveQueue(ArchiveWriter(disk))
    let token = FillToken()
    self.queue = queue
    queue.add(.restore(types, store, token, restoring))
    // Commits first, so that no part of a commit in between is saved before the whole.
    following =
      [store.commits.subscribe(onNext: { queue.seal() }).scoped()]
      + types.map { $0.follow(store) { queue.note($0) }.scoped() }
    membership = store.scope?.add(isPersistent: true) { [queue, weak store] in
      let erased = Promise<Void>()
      // After all earlier commits, so that none of them is saved later.
      if let store {
        store.afterDelivery { queue.add(.erase(erased)) }
      } else {
        queue.add(.erase(erased))
      }
      return erased.outcome
    }.scoped()
    store.afterDelivery { queue.start() }
  }

  deinit {
    // Earlier commits may not have been reported yet.
    store.afterDelivery { [following] in _ = following }
  }

  /// The number of entities found on disk, once they are in the store; or the failure to read them.
  public var restored: Signal<Int> { restoring.outcome }

  /// Completes with a value when all earlier commits are on disk.
  ///
  /// Starts at once.
  ///
  /// - Parameter durability: The durability to wait for.
  /// - Returns: The outcome, replayed, which may be ignored.
  /// - Throws: `CacheError.full(layer:byteCount:limit:)` if there is no room for the changes since
  ///   the last success, or the disk's error if they could not be saved; they are tried again with
  ///   the next commit and the next flush. Once, the encoder's error for an entity that can't be
  ///   encoded, which is left out.
  @discardableResult
  public func flush(_ durability: Durability = .written) -> Signal<Void> {
    let flushed = Promise<Void>()
    store.afterDelivery { [queue] in queue.add(.flush(durability, flushed)) }
    return flushed.outcome
  }

  /// Flushes, and returns when that is done: the form for asynchronous code.
  ///
  /// - Parameter durability: The durability to wait for.
  /// - Throws: As the outcome of the other form.
  public nonisolated(nonsending) func flush(_ durability: Durability = .written) async throws {
    try await flush(durability).value
  }
}

extension Repository {
  /// Adds an archive, of which a clear removes everything from its store and from its disk.
  ///
  /// A shutdown saves all commits and closes the disk.
  ///
  /// - Parameters:
  ///   - archive: The archive to add; its store need not be added too.
  ///   - name: A name that no other member has.
  /// - Throws: `CacheError.nameTaken(name:)` if another member has that name;
  ///   `CacheError.shutDown` after `Repository.shutDown(deadline:)`.
  public func add(_ archive: EntityArchive, named name: String) throws {
    try add(
      RepositoryMember(
        flush: { archive.flush() },
        removeAll: {
          archive.store.removeAll()
          return archive.flush()
        },
        close: { archive.disk.close() }), named: name)
  }
}
