import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// A cache's access to the store of its folder, which opens after the cache is created.
///
/// Earlier gets and writes wait, in order. If the folder can't be opened, they fail, and the next
/// call tries again.
final class LazilyOpenedStore: Sendable {
  typealias Answer = Result<DiskStore, CacheError>

  let path: String
  private let options: DiskOptions
  private let files: FileSystem
  private let state: Locked<AccessState>
  private let part = StorePart()
  private let closed = Promise<Void>()

  /// Creates an access, which begins to open the folder on a thread of its own.
  init(directory: URL, _ options: DiskOptions, _ files: FileSystem) {
    path = directory.isFileURL ? directory.path(percentEncoded: false) : ""
    self.options = options
    self.files = files
    state = Locked(AccessState(timeToLive: options.timeToLive))
    enter()
  }

  /// The store, if it is open and nothing waits for it any more.
  var store: DiskStore? { state.withLock { $0.store } }

  /// The same store, and the time to live of values without one of their own.
  var forWriting: (store: DiskStore?, timeToLive: TimeToLive) {
    state.withLock { ($0.store, $0.timeToLive) }
  }

  /// The time to live of values without one of their own.
  var timeToLive: TimeToLive {
    get { state.withLock { $0.timeToLive } }
    set { state.withLock { $0.timeToLive = newValue } }
  }

  /// Calls `work` when the store is open or can't be opened; at once if that is known.
  @inline(never)
  func use(_ work: @escaping @Sendable (Answer) -> Void) {
    switch state.withLock({ $0.isClosed ? nil : $0.enter(work) }) {
    case .open(let store)?: work(.success(store))
    case .opening?: break
    case .idle?: enter()
    case nil: work(.failure(CacheError(disk: DiskError.closed(folder: path))))
    }
  }

  /// Calls `work` when the store is open; fails the observer if it can't be opened.
  func use<Value>(
    for observer: Observer<Value>, _ work: @escaping @Sendable (DiskStore) -> Void
  ) {
    use { result in
      switch result {
      case .failure(let error): observer.failed(error)
      case .success(let store): work(store)
      }
    }
  }

  /// Returns the outcome of flushing all earlier writes.
  func flush(_ durability: Durability) -> Signal<Void> {
    // A close hands all earlier writes over to the system, and no write follows it.
    if durability == .written, state.withLock({ $0.isClosed }) { return closed.outcome }
    return Signal { observer, _ in
      self.use(for: observer) { store in
        store.flush(durability) { error in
          if let error { observer.failed(error) } else { observer.succeeded() }
        }
      }
    }.started()
  }

  /// Leaves the store when all waiting work is done; later gets and writes are refused.
  ///
  /// - Returns: The outcome: all earlier writes are on disk, and the folder is released.
  @discardableResult
  func close() -> Signal<Void> {
    part.end()
    if state.withLock({ !exchange(&$0.isClosed, with: true) }) { leave { self.closed.end() } }
    return closed.outcome
  }

  /// Leaves the store when all waiting work is done; the next work opens the folder again.
  ///
  /// - Returns: The outcome: all earlier writes are on disk, and the folder is released, unless
  ///   another cache of this process uses it.
  func release() -> Signal<Void> {
    if state.withLock({ $0.isClosed }) { return closed.outcome }
    let released = Promise<Void>()
    leave { released.end() }
    return released.outcome
  }

  /// Whether the store was released after a write got it, so that it may not carry the write out.
  func hasReleased(_ store: DiskStore) -> Bool {
    state.withLock { $0.store !== store && !$0.isClosed }
  }

  private func leave(_ done: @escaping @Sendable () -> Void) {
    switch state.withLock({ $0.leave(done) }) {
    case .open(let store): SharedDiskStores.leave(store, part, done)
    case .opening: break
    case .idle: done()
    }
  }

  private func enter() { SharedDiskStores.admissions.async { self.open() } }

  private func open() {
    do {
      // A path of the system ends at a NUL, so the rest would be lost.
      guard !path.isEmpty, !path.utf8.contains(0) else { throw CLibrary.failure(.EINVAL, path) }
      try files.makeFolder(path)
      SharedDiskStores.enter(
        try CLibrary.resolve(path), options, files, part, { self.settle($0) },
        retry: { self.open() })
    } catch {
      let answer = Answer.failure(CacheError(disk: DiskError.of(error, folder: path)))
      // Not on the queue of admissions, where a slow observer would delay every other cache.
      SerialQueue(label: "millpond.disk.refusal").async { self.settle(answer) }
    }
  }

  private func settle(_ answer: Answer) {
    switch answer {
    case .success(let store):
      while let waiting = state.withLock({ $0.takeWaiting(for: store) }) {
        for work in waiting { work(answer) }
      }
    case .failure:
      // Later work, including that of the observers of this failure, tries again.
      for work in state.withLock({ $0.fail() }) { work(answer) }
    }
    for done in state.withLock({ $0.takeLeaving() }) { leave(done) }
  }
}

/// The phase of an access, and the work that waits for the store.
struct AccessState: Sendable {
  typealias Work = @Sendable (LazilyOpenedStore.Answer) -> Void

  enum Phase: Sendable {
    /// Work waits until the store is open.
    case opening

    /// Nothing waits any more.
    case open(DiskStore)

    /// The folder could not be opened, or was left; the next work opens it.
    case idle
  }

  /// The time to live of values without one of their own.
  var timeToLive: TimeToLive

  /// Whether new work is refused; what waits is still done.
  var isClosed = false

  private var phase = Phase.opening
  private var waiting: [Work] = []

  /// The ends of the use of the store, which wait until no work does.
  private var leaving: [@Sendable () -> Void] = []

  init(timeToLive: TimeToLive) {
    self.timeToLive = timeToLive
  }

  /// The store, if it is open to new work, and nothing waits for it any more.
  var store: DiskStore? { if case .open(let store) = phase, !isClosed { store } else { nil } }

  /// Has work wait for the store, unless that is open.
  ///
  /// - Returns: The phase before; if it was idle, the caller opens the store.
  mutating func enter(_ work: @escaping Work) -> Phase {
    if case .open = phase { return phase }
    waiting.append(work)
    return exchange(&phase, with: .opening)
  }

  /// Takes the waiting work; if there is none, opens the store to all callers and returns nil.
  mutating func takeWaiting(for store: DiskStore) -> [Work]? {
    if waiting.isEmpty { phase = .open(store) }
    return waiting.isEmpty ? nil : exchange(&waiting, with: [])
  }

  /// Returns the waiting work, all of which fails.
  mutating func fail() -> [Work] {
    phase = .idle
    return exchange(&waiting, with: [])
  }

  /// Gives the store up, unless work waits for it: then ``takeLeaving()`` returns `done` afterwards.
  ///
  /// - Returns: The phase before; if the store was open, the caller leaves it.
  mutating func leave(_ done: @escaping @Sendable () -> Void) -> Phase {
    if case .opening = phase {
      leaving.append(done)
      return phase
    }
    return exchange(&phase, with: .idle)
  }

  mutating func takeLeaving() -> [@Sendable () -> Void] { exchange(&leaving, with: []) }
}
