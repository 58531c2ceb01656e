public import MillpondCore
public import MillpondEntities
public import MillpondSignals

/// Keeps the entities of a store on disk, and has them there again at the next start.
///
///     let archive = EntityArchive(
///       of: store, in: DiskCache(directory: folder, byteLimit: .mebibytes(64)),
///       types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
///     let count = try await archive.restored.value
///
/// What was kept is put into the store as if a source had brought it: what the store is told
/// meanwhile wins. From then on the disk follows the store, in the background: what is set, merged,
/// removed, and dropped.
///
/// However the process ends, what is restored is the store as one commit has left it, the last or an
/// earlier one; of a transaction all is there or nothing, since it is on disk as a whole before any of it
/// takes the place of what was there. That holds for what ``flush(_:)`` has waited for after a power cut
/// too. It does not hold for what the disk loses: a damaged entity is missing, and so is what had to
/// go for want of room, so give the cache room enough.
///
/// Released, it still saves what was committed before.
///
/// Records that can't be decoded go from the disk, as removed ones do. Types that are not listed are left
/// alone.
///
/// An archive belongs to the scope of its store. At the end of the scope everything is removed from the
/// disk, also types that are not listed; the outcome of the end waits for that, and fails if it fails. If
/// the process dies before the outcome has succeeded, make the store and the archive anew at the next start,
/// in a scope, and end that.
///
/// - Note: The cache is to be of this archive alone.
public final class EntityArchive: Sendable {
  private let store: EntityStore
  private let queue: ArchiveQueue
  private let following: [ScopedDisposable]
  private let restoring = Promise<Int>()
  private let membership: ScopedDisposable?

  /// Starts to restore, and to follow `store`.
  ///
  /// - Parameter types: Which entities are kept; others are left out.
  public init(of store: EntityStore, in disk: DiskCache, types: [ArchivedType]) {
    self.store = store
    let queue = ArchiveQueue(ArchiveSaver(disk))
    let token = FillToken()
    self.queue = queue
    queue.add(.restore(types, store, token, restoring))
    // The commits first: of one that comes between, no part is saved before the whole.
    following =
      [store.commits.subscribe(onNext: { queue.seal() }).scoped()]
      + types.map { $0.follow(store) { queue.note($0) }.scoped() }
    membership = store.scope?.add(isPersistent: true) { [queue, weak store] in
      let erased = Promise<Void>()
      // After all that was committed until now: none of it is to be saved later.
      if let store {
        store.afterTelling { queue.add(.erase(erased)) }
      } else {
        queue.add(.erase(erased))
      }
      return erased.outcome
    }.scoped()
    store.afterTelling { queue.start() }
  }

  deinit {
    // What has been committed may still have to be told.
    store.afterTelling { [following] in _ = following }
  }

  /// How many entities were found on disk, when they are in the store; or why it can't be read.
  public var restored: Signal<Int> { restoring.outcome }

  /// Completes with a value when all that was committed before the subscription is on disk.
  ///
  /// - Throws: What the disk says, if something could not be saved; that is tried again with the next
  ///   commit, and the next flush. An encoder's error, once, for what can't be encoded, and
  ///   ``DiskError/tooLarge(folder:key:byteCount:limit:)``, once, for what is too large for the disk: both
  ///   are left out.
  public func flush(_ durability: Durability = .written) -> Signal<Void> {
    .deferred { [store, queue] in
      let flushed = Promise<Void>()
      store.afterTelling { queue.add(.flush(durability, flushed)) }
      return flushed.outcome
    }
  }
}
