public import Foundation
public import MillpondCore
public import MillpondSignals

/// A cache in a folder, which holds the values that are most likely to be asked for again, up to a
/// number of bytes.
///
///     let cache = DiskCache(directory: folder, byteLimit: .mebibytes(256))
///     cache.set(data, for: "a")
///     let data = try await cache.get("a").value
///     try await cache.flush().value  // before the program ends
///
/// Gets see a write at once; it is on disk when its outcome succeeds. A program that ends earlier loses
/// it: await the outcome, or ``flush(_:)``, or ``close()``, as the last thing.
///
/// Values below 64 KiB go into a log, larger ones into files of their own. The process may be
/// killed at any moment: of each key there is then the old or the new value, whole. After a power cut
/// every value is there that was written before a successful ``flush(_:)`` to the device, or one that was
/// written for its key later, whole. What was never flushed to the device may be missing.
/// Damage is a miss.
///
/// The limit is one for the files, all of them together, whenever nothing is being written; while the
/// log is tidied up it may be exceeded by a few records. Of it a quarter or so is for what has been
/// replaced but not been cleared away yet, so that a value may be as large as three quarters of it.
/// The set of a larger one fails with ``DiskError/tooLarge(folder:key:byteCount:limit:)``, and what was
/// there before stays. A value that is not worth what would have to go for it is not stored, as if it
/// had been evicted at once; that is no failure.
///
/// A set never waits for the disk, and no burst is too large: what is not on disk yet is held in memory, as
/// a part of what the cache holds, so at most `byteLimit` bytes of values, and a few hundred bytes for each
/// write. Whoever writes more than memory holds awaits outcomes, or a flush, now and then.
///
/// If a set can't be written, its outcome fails, and what was there before is there again. If a removal
/// can't be written, its outcome fails too, but it counts for as long as the folder is open; after that
/// what was removed may be there again, so remove it again.
///
/// Keys are compared byte by byte, so two that are equal as strings may be two keys here. Other files
/// in the folder are left alone. Files are for their owner only, and so is a folder that is made here; a
/// folder that exists is used as it is, whoever owns it. Two caches of one folder share what is in it.
/// With other settings, or in another process, the later one fails with ``CacheError/inUse(layer:)``; if
/// the folder can't be made or read, it fails with ``CacheError/unavailable(layer:underlying:)`` and a
/// ``DiskError``. What is asked after such a failure tries again.
///
/// - Note: Any thread, none is blocked. What the system has in memory arrives inside the subscription,
///   where the system can tell (Linux); else values arrive on a thread of the cache.
/// - Complexity: O(1) a get, a set or a removal; O(*n*) for `removeAll`, and to open.
public final class DiskCache: Cache {
  let access: StoreAccess
  let options: DiskOptions

  private let removals = Locked(Registry<@Sendable () -> Void>())

  /// Keeps values in `directory`, which is made if it is missing.
  ///
  /// Returns at once; what is asked and told waits until the folder is open.
  ///
  /// - Parameters:
  ///   - directory: Of this cache alone; only its owner can enter it, if it is made here.
  ///   - byteLimit: Upper bound for what is in it; of zero or less, nothing is stored.
  ///   - timeToLive: How long after it left its origin a value is kept, by the calendar. A clock that
  ///     steps back by less than a minute expires nothing; a value that is further in the future has no
  ///     time left. It goes when it is asked for; if it is not, it is usable again when the calendar has
  ///     come within that minute of it.
  ///   - policy: Who has to go when there is no room.
  ///   - schema: Which form the values have.
  ///   - sealing: How they are kept from being read by others.
  ///   - protection: When they can be read on a device that locks.
  public convenience init(
    directory: URL, byteLimit: Int, timeToLive: TimeToLive = .never,
    policy: EvictionPolicy = .adaptive, schema: DiskSchema = .unversioned,
    sealing: DiskSealing? = nil, protection: DiskProtection = .afterFirstUnlock
  ) {
    self.init(
      directory: directory,
      DiskOptions(
        byteLimit: byteLimit, timeToLive: timeToLive, policy: policy,
        form: ValueForm(schema: schema, sealing: sealing), protection: protection))
  }

  init(directory: URL, _ options: DiskOptions, _ files: FileSystem = FileSystem()) {
    self.options = options
    access = StoreAccess(directory: directory, options, files)
  }

  deinit { access.end() }

  // MARK: Asking

  /// The value, if it is here and young enough; what is told but not yet written, at once.
  public func get(_ key: String, _ lookup: Lookup) -> Signal<Data> {
    answer(key, lookup).map { $0.value }
  }

  /// The value, if it is here and young enough, with its age by the calendar.
  ///
  /// A value from the future counts as new within a minute, and else as a hundred years old.
  public func getStamped(_ key: String, _ lookup: Lookup) -> Signal<Stamped<Data>> {
    answer(key, lookup).map { [options] answer in
      Stamped(
        answer.value, age: answer.storedAt.age(at: options.now()), validator: answer.validator)
    }
  }

  private func answer(_ key: String, _ lookup: Lookup) -> Signal<DiskAnswer> {
    asking { store, observer, lifetime in
      if lookup.freshness == .reload { return observer.completed() }
      do {
        switch try store.read(key, waits: false) {
        case .found(let answer): store.deliver(answer, lookup, observer)
        case .missing: observer.completed()
        case .waits(let place):
          store.read(key, from: place, lifetime) { result in
            switch result {
            case .success(let answer?): store.deliver(answer, lookup, observer)
            case .success(nil): observer.completed()
            case .failure(let error): observer.failed(error)
            }
          }
        }
      } catch {
        observer.failed(CacheError(disk: error, store.folder, key: key))
      }
    }
  }

  // MARK: Writing

  /// Stores or removes, at once; the outcome comes when that is on disk.
  ///
  /// The outcome of a removal of everything waits until no byte of what was stored until then is left in
  /// any file of the folder, also of values that had been removed, replaced or evicted before, and of those
  /// that are just being streamed into files (``storing(_:for:)``), which are not kept then. A
  /// ``DiskFile`` that the program holds stays until it is released. If the process dies before the
  /// outcome, the next one finishes the removal, or finds everything as it was: then remove everything
  /// again.
  public func apply(_ change: Change<String, Data>) -> Signal<Void> {
    // Until the folder is open, what has come waits: by then the run that asked may be over.
    let change = access.store == nil ? change.accepted : change
    let outcome = outcome { $0.apply(change) }
    if case .removeAll = change { for act in removals.withLock({ $0.elements }) { act() } }
    return outcome
  }

  /// Calls `act`, until the handle is disposed of, whenever everything is removed: on the thread that
  /// removes it, before that returns.
  func onRemoval(_ act: @escaping @Sendable () -> Void) -> Disposable {
    removals.keep(act, in: \.self)
  }

  /// Keeps `value` for `key`, for a time of its own instead of the cache's.
  ///
  /// - Parameter timeToLive: From now on; what has come to its end at once is not kept, and neither
  ///   is what was kept before.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func set(_ value: Data, for key: String, timeToLive: TimeToLive) -> Signal<Void> {
    let revision = Revision.next()
    return outcome { $0.set(key, .value(value), timeToLive, revision).signal }
  }

  /// The outcome of a write that is carried out now, or as soon as the folder is open.
  func outcome(of write: @escaping @Sendable (DiskStore) -> Signal<Void>) -> Signal<Void> {
    if let store = access.store { return write(store) }
    // Of the access only: an outcome that somebody keeps does not keep the folder in use.
    return Signal { [access] observer, lifetime in
      access.use(for: observer) { write($0).run(observer, lifetime) }
    }.started()
  }

  // MARK: Flushing and closing

  /// Completes with a value when everything that was written before has come so far.
  ///
  /// It runs at once. Writes whose outcome has failed are not waited for.
  ///
  /// Many that wait for the device at the same time wait for it once. After the first flush to the device
  /// the cache waits for it too before it removes something from there, and a folder that was not closed
  /// takes longer to open: what was written since the last flush is read, and checked.
  ///
  /// - Throws: ``CacheError/unavailable(layer:underlying:)`` if the system can't say that it is there.
  @discardableResult
  public func flush(_ durability: Durability) -> Signal<Void> { access.flush(durability) }

  /// Lets go of the folder when everything that was told is on disk, so that another process can
  /// open it.
  ///
  /// Releasing the cache does the same, with nobody to say when it is done.
  ///
  /// Gets and writes after this call fail with ``CacheError/unavailable(layer:underlying:)``
  /// and ``DiskError/closed(folder:)``.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func close() -> Signal<Void> { access.close() }

  /// A signal that the store feeds, as soon as it is open.
  func asking<Value>(
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

extension DiskStore {
  /// Sends what was found, if it is young enough.
  fileprivate func deliver(
    _ answer: DiskAnswer, _ lookup: Lookup, _ observer: Observer<DiskAnswer>
  ) {
    let age = { answer.storedAt.age(at: self.options.now()) }
    if lookup.freshness == .any || lookup.admits(age: age()) {
      observer.next(answer)
    } else {
      lookup.explainMiss(.tooOld(age: age()))
    }
    observer.completed()
  }
}
