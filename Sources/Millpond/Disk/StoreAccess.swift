import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// A cache's part in the store of its folder, which comes a little later than the cache.
///
/// What is asked or written before waits, in order. If the folder can't be opened, what waits fails,
/// and what comes after that makes it try again.
final class StoreAccess: Sendable {
  typealias Answer = Result<DiskStore, CacheError>

  let path: String
  private let options: DiskOptions
  private let files: FileSystem
  private let state = Locked(AccessState())
  private let part = StorePart()
  private let closed = Promise<Void>()

  /// Begins to open the folder, on a thread of its own.
  init(directory: URL, _ options: DiskOptions, _ files: FileSystem) {
    path = directory.isFileURL ? directory.path(percentEncoded: false) : ""
    self.options = options
    self.files = files
    enter()
  }

  /// The store, if it is open and nothing waits for it any more.
  var store: DiskStore? { state.withLock { $0.store } }

  /// Calls `work` when the store is open, or can't be; at once if that is known.
  func use(_ work: @escaping @Sendable (Answer) -> Void) {
    switch state.withLock({ $0.enter(work, path) }) {
    case .isAnswered(let answer): work(answer)
    case .waits: break
    case .opens: enter()
    }
  }

  /// Calls `work` when the store is open; fails the observer if it can't be.
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

  /// Returns the outcome of waiting until everything written before has come so far.
  func flush(_ durability: Durability) -> Signal<Void> {
    Signal { observer, _ in
      self.use(for: observer) { store in
        store.flush(durability) { observer.end(with: $0.map { .failure($0) } ?? .success(())) }
      }
    }.started()
  }

  /// Ends the part when nothing waits any more; nothing may be asked or written after this.
  func end() {
    part.end()
    if let store = state.withLock({ $0.end() }) { StoreRegistry.leave(store, part) }
  }

  /// Ends the part when what waits has been done; what is asked or written after this call is refused.
  ///
  /// - Returns: The outcome: everything written before is on disk, and the folder has been left.
  func close() -> Signal<Void> {
    let (isNow, store) = state.withLock { $0.close { self.leave(try? $0.get()) } }
    if isNow { leave(store) }
    return closed.outcome
  }

  /// - Parameter store: Nil if it could not be opened.
  private func leave(_ store: DiskStore?) {
    part.end()
    let finish: @Sendable () -> Void = {
      // Held on to, the open files of the store would keep the room on disk of what others remove.
      _ = self.state.withLock { $0.letGo() }
      self.closed.keep(by: .just(()))
    }
    if let store { StoreRegistry.leave(store, part, finish) } else { finish() }
  }

  private func enter() { StoreRegistry.door.async { self.open() } }

  private func open() {
    do {
      // The system's paths end at a NUL: what is after it would be lost.
      guard !path.isEmpty, !path.utf8.contains(0) else { throw POSIX.failure(.EINVAL, path) }
      try files.makeFolder(path)
      StoreRegistry.enter(
        try POSIX.resolve(path), options, files, part, { self.settle($0) },
        retry: { self.enter() })
    } catch {
      let answer = Answer.failure(CacheError(disk: DiskError.of(error, folder: path)))
      // Not at the door, where an observer that takes its time would be in everybody's way.
      DispatchQueue(label: "millpond.disk.refusal").async { self.settle(answer) }
    }
  }

  private func settle(_ answer: Answer) {
    switch answer {
    case .success(let store):
      while let waiting = state.withLock({ $0.takeWaiting(for: store) }) {
        for work in waiting { work(answer) }
      }
    case .failure:
      // What comes from now on, also from those who are told, makes it try again.
      for work in state.withLock({ $0.fail() }) { work(answer) }
    }
    if let store = state.withLock({ $0.leave() }) { StoreRegistry.leave(store, part) }
  }
}

/// The state of a part: what waits for the store, and whether it has been closed.
struct AccessState: Sendable {
  typealias Work = @Sendable (StoreAccess.Answer) -> Void

  /// The treatment of work that arrives.
  enum Entry: Sendable {
    case isAnswered(StoreAccess.Answer)
    case waits

    /// It waits for an opening that has to be begun.
    case opens
  }

  private enum Phase: Sendable {
    case opening
    case open(DiskStore)
    case failed
  }

  private var phase = Phase.opening
  private var waiting: [Work] = []
  private var isEnded = false
  private var isClosed = false
  private var hasLeft = false

  /// The store, if it is open and nothing waits for it any more.
  var store: DiskStore? { if !isClosed, case .open(let store) = phase { store } else { nil } }

  /// - Parameter folder: For the error of a part that has been closed.
  mutating func enter(_ work: @escaping Work, _ folder: String) -> Entry {
    if isClosed { return .isAnswered(.failure(CacheError(disk: DiskError.closed(folder: folder)))) }
    switch phase {
    case .open(let store): return .isAnswered(.success(store))
    case .opening:
      waiting.append(work)
      return .waits
    case .failed:
      waiting.append(work)
      phase = .opening
      return .opens
    }
  }

  /// Takes the waiting work; if there is none, the store is open to all callers, and nil is returned.
  mutating func takeWaiting(for store: DiskStore) -> [Work]? {
    guard !waiting.isEmpty else {
      phase = .open(store)
      return nil
    }
    return exchange(&waiting, with: [])
  }

  /// Returns the waiting work, none of which can be done.
  mutating func fail() -> [Work] {
    phase = .failed
    return exchange(&waiting, with: [])
  }

  /// Refuses everything from now on.
  ///
  /// - Parameter leaving: Leaves the store, after all that waits.
  /// - Returns: Whether to leave at once, and the store; else it waits, or was closed before.
  mutating func close(_ leaving: @escaping Work) -> (isNow: Bool, DiskStore?) {
    if isClosed { return (false, nil) }
    (isClosed, hasLeft) = (true, true)
    switch phase {
    case .open(let store): return (true, store)
    case .failed: return (true, nil)
    case .opening:
      waiting.append(leaving)
      return (false, nil)
    }
  }

  /// Returns the store that has been left, to be released after the unlock.
  mutating func letGo() -> DiskStore? {
    defer { phase = .failed }
    return if case .open(let store) = phase { store } else { nil }
  }

  mutating func end() -> DiskStore? {
    isEnded = true
    return leave()
  }

  /// The store that is to be left now, once.
  mutating func leave() -> DiskStore? {
    guard isEnded, !hasLeft, case .open(let store) = phase else { return nil }
    hasLeft = true
    return store
  }
}
