import Dispatch
import MillpondCore
import MillpondSignals
import Synchronization

/// The stores that this process has open, by folder: two caches of one folder share one store.
enum SharedDiskStores {
  /// The queue on which caches are admitted in the order of their creation, so that the later one
  /// is refused and not the slower one.
  static let admissions = SerialQueue(
    label: "millpond.disk.admissions", autoreleaseFrequency: .workItem)

  private static let uses = Locked<[String: StoreUse]>([:])

  /// The last closed store of each folder, until the next one has opened.
  private static let lastStores = Locked<[String: LastStore]>([:])

  private static func open(_ store: DiskStore) throws(CacheError) {
    try store.open(after: lastStores.withLock { $0[store.path] })
    lastStores.discard { stores in
      let former = stores
      stores = former.filter { $0.value.isNeeded && $0.key != store.path }
      return former
    }
  }

  /// Adds a part to the store of a folder, which is opened for the first part.
  ///
  /// Only on the queue of admissions. `answer` is called later, on a thread of the store, in order:
  /// the work of an earlier part is done before a later part is answered.
  ///
  /// - Parameters:
  ///   - path: The path of the folder, without links.
  ///   - options: The settings of the store.
  ///   - files: The file system.
  ///   - part: The part.
  ///   - answer: Called when the store is open or can't be opened.
  ///   - retry: Called instead of `answer`, on the queue of admissions, when the present store is
  ///     closed, if that is about to happen.
  static func enter(
    _ path: String, _ options: DiskOptions, _ files: FileSystem, _ part: StorePart,
    _ answer: @escaping @Sendable (Result<DiskStore, CacheError>) -> Void,
    retry: @escaping @Sendable () -> Void
  ) {
    let admission = uses.withLock { uses in
      uses[path, default: StoreUse(DiskStore(path: path, options, files))]
        .enter(options, part, retry)
    }
    switch admission {
    case .waits: break
    case .isRefused(let store):
      store.admissions.async { answer(.failure(.inUse(diskFolder: path))) }
    case .takesPart(let store):
      store.admissions.async {
        let result = Result { () throws(CacheError) in
          try open(store)
          return store
        }
        if case .failure = result { remove(store) }
        answer(result)
      }
    }
  }

  /// Removes a part from an open store; the last one closes it.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - part: The part.
  ///   - done: Called when all earlier writes are done, and the store is closed if this was the
  ///     last part; then also all earlier lookups that wait for the disk.
  static func leave(
    _ store: DiskStore, _ part: StorePart, _ done: @escaping @Sendable () -> Void = {}
  ) {
    let closing = uses.withLock { $0[store.path]?.leave(part) }
    store.flush(.written) { _ in
      guard let closing else { return done() }
      // Lookups that have begun may still lend files, of which the next store has to know.
      store.reading.whenIdle(on: store.outcomes) { close(store, closing, done) }
    }
  }

  private static func close(
    _ store: DiskStore, _ closing: Int, _ done: @escaping @Sendable () -> Void
  ) {
    guard uses.withLock({ $0[store.path]?.close(closing) ?? false }) else { return done() }
    // While the folder is held: the next process removes files that it does not know.
    store.streams.end(on: store.outcomes) {
      let last = store.close()
      lastStores.discard { $0.updateValue(last, forKey: store.path) }
      remove(store)
      done()
    }
  }

  /// Makes room for another store of the folder.
  ///
  /// On the queue of admissions, and in one step with the admission of the parts that have waited
  /// for this: a later part must not come between.
  private static func remove(_ store: DiskStore) {
    admissions.async {
      let use = uses.withLock { uses -> StoreUse? in
        // After a failure another store may have taken its place.
        guard uses[store.path]?.store === store else { return nil }
        return uses.removeValue(forKey: store.path)
      }
      for retry in use?.retries ?? [] { retry() }
    }
  }
}

/// A closed store's legacy to the next store of its folder: the order of its writes.
struct LastStore: Sendable {
  /// The store, which exists while a file that it has lent is leased.
  ///
  /// Weak only when it is closed: it makes every use of an object slower.
  weak let store: DiskStore?

  /// The order of its writes: one that has waited for the next store may be earlier.
  let writes: WriteOrder<KeyHash>
  let removals: RemovalsByPredicate<String>

  /// The time at which it was closed.
  let end: Revision

  /// Whether another store of the folder may need it.
  var isNeeded: Bool { store != nil || PendingWrite.isAny(before: end) }
}

/// A cache's part in a store.
final class StorePart: Sendable {
  private let isOver = AtomicValue(false)

  /// Whether the part is still in use; if not, only its earlier writes remain to be done.
  var isLive: Bool { !isOver.load(ordering: .acquiring) }

  func end() { isOver.store(true, ordering: .releasing) }
}

/// The parts that use a store.
struct StoreUse: Sendable {
  enum Admission: Sendable {
    case takesPart(DiskStore)
    case waits
    case isRefused(DiskStore)
  }

  let store: DiskStore
  private(set) var retries: [@Sendable () -> Void] = []
  private var parts: [ObjectIdentifier: StorePart] = [:]
  private var lastClosing = 0
  private var isClosed = false

  init(_ store: DiskStore) {
    self.store = store
  }

  mutating func enter(
    _ options: DiskOptions, _ part: StorePart, _ retry: @escaping @Sendable () -> Void
  ) -> Admission {
    // A part that waits has been created before.
    if !isClosed, retries.isEmpty, store.options.agrees(with: options) {
      parts[ObjectIdentifier(part)] = part
      return .takesPart(store)
    }
    if parts.values.contains(where: { $0.isLive }) { return .isRefused(store) }
    retries.append(retry)
    return .waits
  }

  /// Removes a part; returns the number of the closing that this begins, nil if another part is
  /// left.
  mutating func leave(_ part: StorePart) -> Int? {
    parts[ObjectIdentifier(part)] = nil
    guard parts.isEmpty else { return nil }
    lastClosing += 1
    return lastClosing
  }

  /// Begins the closing, unless a part has entered since, even one that has left again; returns
  /// whether it does.
  mutating func close(_ closing: Int) -> Bool {
    guard parts.isEmpty, closing == lastClosing, !isClosed else { return false }
    isClosed = true
    return true
  }
}
