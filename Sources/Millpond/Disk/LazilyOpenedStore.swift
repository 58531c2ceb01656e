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
    switch state.withLock({ $0.enter(work, path) }) {
    case .isAnswered(let answer): work(answer)
    case .waits: break
    case .opens: enter()
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

  /// Ends the part when all waiting work is done; later gets and writes are refused.
  ///
  /// - Returns: The outcome: all earlier writes are on disk, and the folder is released.
  @discardableResult
  func close() -> Signal<Void> {
    part.end()
    let leave: AccessState.Work = { self.leave(try? $0.get()) }
    if let answer = state.withLock({ $0.close(leave, path) }) { leave(answer) }
    return closed.outcome
  }

  /// Leaves the store when all waiting work is done; the next work opens the folder again.
  ///
  /// - Returns: The outcome: all earlier writes are on disk, and the folder is released, unless
  ///   another cache of this process uses it.
  func release() -> Signal<Void> {
    let released = Promise<Void>()
    release { released.keep(by: .just(())) }
    return released.outcome
  }

  private func release(_ done: @escaping @Sendable () -> Void) {
    let again: @Sendable () -> Void = { self.release(done) }
    switch state.withLock({ $0.release(again) }) {
    case .leaves(let store): SharedDiskStores.leave(store, part, done)
    case .isReleased: done()
    case .isClosed: closed.outcome.subscribe(onCompleted: done)
    case .waits: break
    }
  }

  /// Whether the store was released after a write got it, so that it may not carry the write out.
  func hasReleased(_ store: DiskStore) -> Bool {
    state.withLock { $0.store !== store && !$0.isClosed }
  }

  /// Leaves the store.
  ///
  /// - Parameter store: The store; nil if it could not be opened.
  private func leave(_ store: DiskStore?) {
    let finish: @Sendable () -> Void = { self.closed.keep(by: .just(())) }
    if let store { SharedDiskStores.leave(store, part, finish) } else { finish() }
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
    for release in state.withLock({ $0.takeReleases() }) { release() }
  }
}

/// The phases of an access, and the work that waits for the store.
struct AccessState: Sendable {
  typealias Work = @Sendable (LazilyOpenedStore.Answer) -> Void

  /// The treatment of new work.
  enum Entry: Sendable {
    case isAnswered(LazilyOpenedStore.Answer)

    /// It is done when the store is open, or can't be opened.
    case waits

    /// It waits, and the caller has to open the store.
    case opens
  }

  private enum Phase: Sendable {
    /// Work waits until the store is open.
    case opening

    /// Nothing waits any more.
    case open(DiskStore)

    /// The folder could not be opened, or was released; the next work opens it.
    case idle

    /// New work is refused; what waits is still done, the leaving of the store as the last.
    case closed
  }

  /// The time to live of values without one of their own.
  var timeToLive: TimeToLive

  private var phase = Phase.opening
  private var waiting: [Work] = []

  /// The releases that wait until nothing else does.
  private var releases: [@Sendable () -> Void] = []

  init(timeToLive: TimeToLive) {
    self.timeToLive = timeToLive
  }

  /// The store, if it is open and nothing waits for it any more.
  var store: DiskStore? { if case .open(let store) = phase { store } else { nil } }

  var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// Admits work.
  ///
  /// - Parameters:
  ///   - work: The work.
  ///   - folder: The folder, for the error after a close.
  mutating func enter(_ work: @escaping Work, _ folder: String) -> Entry {
    switch phase {
    case .open(let store): return .isAnswered(.success(store))
    case .closed: return .isAnswered(.closed(folder))
    case .opening:
      waiting.append(work)
      return .waits
    case .idle:
      waiting.append(work)
      phase = .opening
      return .opens
    }
  }

  /// Takes the waiting work; if there is none, opens the store to all callers and returns nil.
  mutating func takeWaiting(for store: DiskStore) -> [Work]? {
    if waiting.isEmpty, case .opening = phase { phase = .open(store) }
    return waiting.isEmpty ? nil : exchange(&waiting, with: [])
  }

  /// Returns the waiting work, all of which fails.
  mutating func fail() -> [Work] {
    if case .opening = phase { phase = .idle }
    return exchange(&waiting, with: [])
  }

  /// The treatment of a release.
  enum Release: Sendable {
    /// The caller leaves the store.
    case leaves(DiskStore)
    case isReleased
    case isClosed

    /// `again` is called when nothing else waits.
    case waits
  }

  /// Gives the store up, unless work waits for it.
  mutating func release(_ again: @escaping @Sendable () -> Void) -> Release {
    switch phase {
    case .open(let store):
      phase = .idle
      return .leaves(store)
    case .idle: return .isReleased
    case .closed: return .isClosed
    case .opening:
      releases.append(again)
      return .waits
    }
  }

  mutating func takeReleases() -> [@Sendable () -> Void] { exchange(&releases, with: []) }

  /// Refuses all later work.
  ///
  /// - Parameters:
  ///   - leaving: Leaves the store, after all waiting work.
  ///   - folder: The folder, for the error.
  /// - Returns: What `leaving` is to be called with now; nil if it waits, or after an earlier close.
  mutating func close(_ leaving: @escaping Work, _ folder: String) -> LazilyOpenedStore.Answer? {
    let former = exchange(&phase, with: .closed)
    switch former {
    case .open(let store): return .success(store)
    case .idle: return .closed(folder)
    case .closed: return nil
    case .opening:
      waiting.append(leaving)
      return nil
    }
  }
}

extension LazilyOpenedStore.Answer {
  fileprivate static func closed(_ folder: String) -> Self {
    .failure(CacheError(disk: DiskError.closed(folder: folder)))
  }
}
