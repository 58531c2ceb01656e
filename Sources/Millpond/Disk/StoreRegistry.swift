import Dispatch
import MillpondCore
import MillpondSignals
import Synchronization

/// Which folders are in use by this process: two caches of one folder share one store.
enum StoreRegistry {
  /// Lets caches in, one after the other in the order of their making: so the later one is refused, and not
  /// whichever is slower.
  static let door = DispatchQueue(label: "millpond.disk.door", autoreleaseFrequency: .workItem)

  private static let uses = Locked<[String: StoreUse]>([:])

  /// The store that each folder was open with last, as long as something holds a file of it.
  private static let lastStores = Locked<[String: LastStore]>([:])

  private static func open(_ store: DiskStore) throws(CacheError) {
    try store.open(after: lastStores.withLock { $0[store.path]?.store })
    lastStores.withLock { stores in
      stores = stores.filter { $0.value.store != nil }
      stores[store.path] = LastStore(store: store)
    }
  }

  /// Takes part in the store of a folder, which is opened for the first one.
  ///
  /// Only at the door. `answer` is called later, on a thread of the store, in order: what an earlier
  /// part has been told is there before a later part is answered.
  ///
  /// - Parameters:
  ///   - path: Without links.
  ///   - answer: Called when the store is open, or can't be.
  ///   - retry: Called instead when the store has been closed, if it is about to be.
  static func enter(
    _ path: String, _ options: DiskOptions, _ files: FileSystem, _ part: StorePart,
    _ answer: @escaping @Sendable (Result<DiskStore, CacheError>) -> Void,
    retry: @escaping @Sendable () -> Void
  ) {
    let entrance = uses.withLock { uses in
      uses[path, default: StoreUse(DiskStore(path: path, options, files))]
        .enter(options, part, retry)
    }
    switch entrance {
    case .waits: break
    case .isRefused(let store):
      store.entrance.async { answer(.failure(.inUse(layer: CacheError.diskLayer))) }
    case .takesPart(let store):
      store.entrance.async {
        let result = Result { () throws(CacheError) in
          try open(store)
          return store
        }
        if case .failure = result { remove(store) }
        answer(result)
      }
    }
  }

  /// Gives up a part in an open store; the last one closes it.
  ///
  /// - Parameter done: Called when everything told is written, and the store is closed, if it is to
  ///   be.
  static func leave(
    _ store: DiskStore, _ part: StorePart, _ done: @escaping @Sendable () -> Void = {}
  ) {
    let closing = uses.withLock { $0[store.path]?.leave(part) }
    store.flush(.written) { _ in
      if let closing { close(store, closing) }
      done()
    }
  }

  private static func close(_ store: DiskStore, _ closing: Int) {
    guard uses.withLock({ $0[store.path]?.close(closing) ?? false }) else { return }
    store.close()
    remove(store)
  }

  private static func remove(_ store: DiskStore) {
    let use = uses.withLock { uses -> StoreUse? in
      // After a failure another store may have taken its place.
      guard uses[store.path]?.store === store else { return nil }
      return uses.removeValue(forKey: store.path)
    }
    for retry in use?.retries ?? [] { retry() }
  }
}

private struct LastStore: Sendable {
  weak let store: DiskStore?
}

/// A cache's part in a store.
final class StorePart: Sendable {
  private let isOver = Atomic(false)

  /// Whether the part can still be used; if not, only what was written before is to be done.
  var isLive: Bool { !isOver.load(ordering: .acquiring) }

  func end() { isOver.store(true, ordering: .releasing) }
}

/// Who uses a store.
struct StoreUse: Sendable {
  enum Entrance: Sendable {
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
  ) -> Entrance {
    if !isClosed, store.options.agrees(with: options) {
      parts[ObjectIdentifier(part)] = part
      return .takesPart(store)
    }
    if parts.values.contains(where: { $0.isLive }) { return .isRefused(store) }
    retries.append(retry)
    return .waits
  }

  /// Returns the number of the closing that this begins; nil if another part is left.
  mutating func leave(_ part: StorePart) -> Int? {
    parts[ObjectIdentifier(part)] = nil
    guard parts.isEmpty else { return nil }
    lastClosing += 1
    return lastClosing
  }

  /// Whether it is to be closed now: not if a part has come since, also if it has left again.
  mutating func close(_ closing: Int) -> Bool {
    guard parts.isEmpty, closing == lastClosing, !isClosed else { return false }
    isClosed = true
    return true
  }
}
