public import Foundation
public import MillpondCore
public import MillpondSignals

/// A cache in a folder, with a limit in bytes, that keeps the values most likely to be used again.
///
///     let cache = DiskCache(directory: folder, byteLimit: .mebibytes(256))
///     cache.set(data, for: "a")
///     let data = try await cache.get("a").value
///     try await cache.flush()  // before the program ends
///
/// Gets see a write at once; it is on disk when its outcome succeeds. A program that ends earlier
/// loses it: await the outcome, ``flush(_:)`` or ``close()->_`` at the end.
///
/// Values below 64 KiB go into a log, larger ones into files of their own. If the process is killed
/// at any moment, each key has its old or its new value, complete; values that are set together by
/// ``set(all:)`` all have their new ones, or none has. After a power cut each key has
/// the value that it had at the last successful ``flush(_:)`` to the device, or a later one,
/// complete. Writes that were never flushed to the device may be missing. Damage is a miss.
///
/// The limit applies to all files together, whenever nothing is being written; during compaction it
/// may be exceeded by a few records, or by as many as were set together. A part of it is reserved
/// for outdated records that have not been removed yet: a value in the log may take up to three
/// quarters of the limit, a value in a file of its own up to nine tenths. Setting a larger one
/// fails with
/// ``DiskError/tooLarge(folder:key:byteCount:limit:)``, and the value stored before stays; a
/// larger one that a lower layer has answered takes the value stored before away, since that is out
/// of date. A value that is not worth the evictions is not stored, as if it had been evicted at
/// once; that is no failure.
///
/// A set never waits for the disk, whatever the size of a burst. Values that are not on disk yet
/// are in memory and count towards the limit, so they take at most `byteLimit` bytes, plus a few
/// hundred bytes for each write, and the values that a ``set(all:)`` replaces while they wait. A
/// caller that writes more than memory can hold should await outcomes or a flush from time to time.
///
/// If a set can't be written, its outcome fails, and the value stored before is back, or none
/// if a lower layer has answered a newer one meanwhile. If a removal can't be written, its outcome
/// fails too, but the removal holds while the folder is open; afterwards the value may be back, so
/// remove it again.
///
/// Equal strings are one key, whatever their bytes: a key is stored in its canonical form (NFC), in
/// which ``contents`` and predicates see it. Other files in the folder are left alone. Files are
/// accessible to their owner only, and so is a folder that is made here; an existing folder is used
/// as it is. Caches of one folder in one process share its values, and each has its own time to
/// live; what one writes in the moment before it is open, those that are open see after that
/// moment. If another setting differs, or another process uses the folder, the later cache fails
/// with `CacheError.inUse(layer:)`; if the folder can't be made or read, it fails with
/// `CacheError.unavailable(layer:underlying:)` and a ``DiskError``. The next call after such a
/// failure tries again.
///
/// A folder that an older version of this library has written, in another format, is emptied, which
/// ``DiskStatistics/outdatedFiles`` tells; one of a newer version is refused with
/// ``DiskError/newerFormat(folder:version:supported:)``.
///
/// - Note: Any thread; none is blocked. If the system can tell that it has a value in memory
///   (Linux), the value arrives inside the subscription; otherwise on a thread of the cache. All
///   outcomes of a folder arrive on one thread, one after the other, and values from the disk on a
///   few: an observer that blocks until another operation of the folder ends may wait for ever.
/// - Complexity: O(1) for a get, a set or a removal; O(*n*) to open, and for a removal of
///   everything or by predicate.
public final class DiskCache: Cache, AnsweringSource {
  let access: LazilyOpenedStore
  let options: DiskOptions

  private let removals = Locked(Registry<@Sendable () -> Void>())

  /// Creates a cache in `directory`, which is made if it is missing.
  ///
  /// Returns at once; gets and writes wait until the folder is open.
  ///
  /// - Parameters:
  ///   - directory: A folder for this cache alone; accessible to its owner only if it is made here.
  ///   - byteLimit: The greatest size of the folder in bytes; with zero or less nothing is stored. A
  ///     lower one than in an earlier run takes effect with the first set.
  ///   - timeToLive: The age, by the calendar, at which a value expires. A clock that steps back by
  ///     less than a minute expires nothing; a timestamp further in the future counts as expired.
  ///     An expired value is removed by the next get of it, unless it has a validator, so that its
  ///     origin can confirm it; without a get, a value from the future is usable again once the
  ///     clock is within a minute of its timestamp.
  ///   - policy: The policy that chooses the entries to evict.
  ///   - schema: The version of the form in which values are stored.
  ///   - sealing: The encryption of values on disk.
  ///   - protection: The protection class of the files, on devices that lock.
  public convenience init(
    directory: URL, byteLimit: Int, timeToLive: TimeToLive = .forever,
    policy: EvictionPolicy = .adaptive, schema: DiskSchema = .unversioned,
    sealing: DiskSealing? = nil, protection: DiskProtection = .afterFirstUnlock
  ) {
    self.init(
      directory: directory,
      DiskOptions(
        byteLimit: byteLimit, timeToLive: timeToLive, policy: policy,
        form: DiskValueFormat(schema: schema, sealing: sealing), protection: protection))
  }

  init(directory: URL, _ options: DiskOptions, _ files: FileSystem = FileSystem()) {
    self.options = options
    access = LazilyOpenedStore(directory: directory, options, files)
  }

  deinit { access.close() }

  /// The time to live of values without one of their own.
  ///
  /// A change applies to values that this cache stores from then on; other caches of the folder
  /// have their own. Those stored before keep theirs: for a single one see
  /// ``/MillpondCore/Cache/setTimeToLive(_:for:)``.
  public var timeToLive: TimeToLive {
    get { access.timeToLive }
    set { access.timeToLive = newValue }
  }

  // MARK: Gets

  /// Returns the value if it is stored and fresh enough, with its age by the calendar; a pending
  /// write answers at once.
  ///
  /// A timestamp in the future counts as new within a minute, and beyond that as a hundred years
  /// old. A value that is too old, also because it has expired, is stale if it has a validator.
  public func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Data>> {
    withOpenStore { store, observer, lifetime in
      let key = key.canonicalText
      // A reload has no use for a value that can't be confirmed.
      if lookup.freshness == .reload, !store.hasEntry(KeyHash(of: key)) {
        return observer.completed()
      }
      do {
        switch try store.read(key, waits: false, findsExpired: true) {
        case .found(let answer): store.deliver(answer, lookup, observer)
        case .missing: store.deliver(nil, lookup, observer)
        case .waits:
          store.readLater(key, lifetime) { result in
            switch result {
            case .success(let answer): store.deliver(answer, lookup, observer)
            case .failure(let error): store.fail(error, lookup, observer)
            }
          }
        }
      } catch {
        store.fail(CacheError(disk: error, store.folder, key: key), lookup, observer)
      }
    }
  }

  // MARK: Writing

  /// Stores or removes at once; the outcome succeeds when the change is on disk.
  ///
  /// The outcome of a `removeAll` waits until no file of the folder contains a byte of earlier
  /// values. That includes values that were removed, replaced or evicted before, and values that
  /// are being streamed into files (``storing(_:for:)``), which are then not stored. A ``DiskFile``
  /// that the program holds stays until it is released. If the process dies before the outcome, the
  /// next one finishes the removal or finds everything as it was: then remove everything again. On
  /// a full volume the outcome may fail, since the removal is written too.
  ///
  /// The outcome of a removal by predicate (`removeAll(where:)`) succeeds when the removals of all
  /// keys are on disk; the bytes of the values go with the next compaction, as those of a single
  /// removal do. Values that were evicted, but are still in the files, are removed too. Since keys
  /// are in the files only, the log is read, in steps between which other writes are carried out;
  /// gets miss the keys at once, and ask the predicate meanwhile. If the log can't be read, or the
  /// process dies before the outcome, some of the values are still stored, complete: then remove
  /// them again.
  public func apply(_ change: Change<String, Data>) -> Signal<Void> {
    let (store, timeToLive) = access.forWriting
    // Until the folder opens, changes wait; by then the get behind a fill may be over.
    let accepted = change.accepted
    let outcome = carryOut(by: store, change.time) { store, waits in
      store.apply(waits ? accepted : change, timeToLive)
    }
    if change.isOfManyKeys { for act in removals.withLock({ $0.elements }) { act() } }
    return outcome
  }

  /// Calls `act` at every removal of many keys, on its thread and before it returns, until the
  /// handle is disposed of.
  func onRemoval(_ act: @escaping @Sendable () -> Void) -> Disposable {
    removals.keep(act, in: \.self)
  }

  // MARK: Flushing and closing

  /// Completes with a value when all earlier writes have reached the given durability.
  ///
  /// Starts at once. Writes whose outcome has failed are not waited for.
  ///
  /// Flushes to the device that wait at the same time share one synchronization; writes that come
  /// meanwhile are seen at once, and written after it. After the first
  /// flush to the device the cache also synchronizes before it removes anything there, and a folder
  /// that was not closed takes longer to open: everything written since the last flush is read and
  /// checked.
  ///
  /// - Parameter durability: The durability to wait for.
  /// - Throws: `CacheError.unavailable(layer:underlying:)` if the system reports an error.
  @discardableResult
  public func flush(_ durability: Durability) -> Signal<Void> { access.flush(durability) }

  /// Releases the folder when all earlier writes are on disk, so that another process can open it.
  ///
  /// Releasing the cache does the same, without an outcome.
  ///
  /// A flush after this call waits for it. Gets and writes fail with
  /// `CacheError.unavailable(layer:underlying:)` and ``DiskError/closed(folder:)``, and so do pieces
  /// that are being stored.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func close() -> Signal<Void> { access.close() }

  /// Closes the cache, and returns when another process can open the folder: the form for
  /// asynchronous code.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; the cache is closed even so.
  public nonisolated(nonsending) func close() async throws {
    try await close().value
  }

  /// Returns a signal that `work` feeds as soon as the store is open.
  func withOpenStore<Value>(
    _ work: @escaping @Sendable (DiskStore, Observer<Value>, Lifetime) -> Void
  ) -> Signal<Value> {
    Signal { observer, lifetime in
      if let store = self.access.store { return work(store, observer, lifetime) }
      self.access.use(for: observer) { store in
        if !lifetime.isEnded { work(store, observer, lifetime) }
      }
    }
  }
}

extension Change {
  /// The place in the order of all writes; for a fill, that of its get.
  fileprivate var time: Revision {
    switch self {
    case .fill(_, _, let token): token.revision
    case .set(_, _, let revision), .remove(_, let revision), .removeAll(let revision),
      .removeMatching(_, let revision):
      revision
    }
  }

  /// Whether this removes all keys, or those that satisfy a predicate.
  fileprivate var isOfManyKeys: Bool {
    switch self {
    case .removeAll, .removeMatching: true
    case .set, .remove, .fill: false
    }
  }
}

extension DiskStore {
  /// Sends what was found, if it is fresh enough; a value that may be confirmed is sent as stale.
  fileprivate func deliver(
    _ found: DiskAnswer?, _ lookup: Lookup, _ observer: Observer<Answer<Data>>
  ) {
    let now = options.now()
    let age = found?.times.age(at: now) ?? .zero
    let isHit = found.map { !$0.times.isOver(at: now) && lookup.admits(age: age) } ?? false
    // A reload that finds nothing of use counts in no statistics.
    if isHit || lookup.freshness != .reload { count(isHit: isHit) }
    if let found {
      let (value, validator) = (found.value, found.validator)
      observer.next(
        isHit
          ? .value(
            Stamped(
              value, age: age, validator: validator, timeToLive: found.times.rest(at: now)))
          : .outdated(Stamped(value, age: age, validator: validator)))
    }
    observer.completed()
  }

  /// Fails; a reload has no use for a value that can't be read.
  fileprivate func fail(
    _ error: CacheError, _ lookup: Lookup, _ observer: Observer<Answer<Data>>
  ) {
    lookup.freshness == .reload ? observer.completed() : observer.failed(error)
  }
}
