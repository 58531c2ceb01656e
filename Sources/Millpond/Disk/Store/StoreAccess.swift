import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// A cache's part in the store of its folder, which comes a little later than the cache.
///
/// What is asked and told before waits, in order.
final class StoreAccess: Sendable {
  typealias Answer = Result<DiskStore, CacheError>

  private let state = Locked(AccessState())
  private let part = StorePart()

  /// Begins to open the folder, on a thread of its own.
  init(directory: URL, _ options: DiskOptions, _ files: FileSystem) {
    let path = directory.isFileURL ? directory.path(percentEncoded: false) : ""
    StoreRegistry.door.async { self.open(path, options, files) }
  }

  /// The store, if it is open and nothing waits for it any more.
  var store: DiskStore? {
    if case .success(let store) = state.withLock({ $0.settled }) { store } else { nil }
  }

  /// Calls `work` when the store is open, or can't be; at once if that is known.
  func use(_ work: @escaping @Sendable (Answer) -> Void) {
    if let answer = state.withLock({ $0.answer(for: work) }) { work(answer) }
  }

  /// Ends the part when nothing waits any more; nothing may be asked or told after this.
  func end() {
    part.end()
    leave(state.withLock { $0.end() })
  }

  /// Ends the part when what waits has been done; what is asked or told after this is refused.
  ///
  /// - Parameter done: Called when everything told is written and the folder has been left.
  func close(_ done: @escaping @Sendable () -> Void) {
    use { answer in
      self.part.end()
      let isFirst = self.state.withLock { $0.close() }
      guard isFirst, case .success(let store) = answer else { return done() }
      StoreRegistry.leave(store, self.part, done)
    }
  }

  private func open(_ path: String, _ options: DiskOptions, _ files: FileSystem) {
    do {
      // The system's paths end at a NUL: what is after it would be lost.
      guard !path.isEmpty, !path.utf8.contains(0) else { throw POSIX.failure(.EINVAL, path) }
      try files.makeFolder(path)
      StoreRegistry.enter(
        try POSIX.resolve(path), options, files, part, { self.settle($0) },
        retry: { StoreRegistry.door.async { self.open(path, options, files) } })
    } catch {
      let answer = Answer.failure(CacheError(disk: error))
      // Not at the door, where an observer that takes its time would be in everybody's way.
      DispatchQueue(label: "millpond.disk.refusal").async { self.settle(answer) }
    }
  }

  private func settle(_ answer: Answer) {
    while let waiting = state.withLock({ $0.takeWaiting(for: answer) }) {
      for work in waiting { work(answer) }
    }
    leave(state.withLock { $0.leave() })
  }

  private func leave(_ store: DiskStore?) {
    if let store { StoreRegistry.leave(store, part) }
  }
}

/// What waits for the store.
struct AccessState: Sendable {
  private(set) var settled: StoreAccess.Answer?
  private var waiting: [@Sendable (StoreAccess.Answer) -> Void] = []
  private var isEnded = false
  private var hasLeft = false
  private var isClosed = false

  /// The answer; nil if `work` has to wait for it.
  mutating func answer(
    for work: @escaping @Sendable (StoreAccess.Answer) -> Void
  ) -> StoreAccess.Answer? {
    if settled == nil { waiting.append(work) }
    return settled
  }

  /// What waits; when nothing does, the answer is there for all who come, and nil is returned.
  mutating func takeWaiting(
    for answer: StoreAccess.Answer
  ) -> [@Sendable (StoreAccess.Answer) -> Void]? {
    guard !waiting.isEmpty else {
      settled = isClosed ? Self.refusal : answer
      return nil
    }
    defer { waiting = [] }
    return waiting
  }

  /// Refuses everything from now on; false if the store has been left before.
  mutating func close() -> Bool {
    defer {
      hasLeft = true
      isClosed = true
      if settled != nil { settled = Self.refusal }
    }
    return !hasLeft
  }

  private static var refusal: StoreAccess.Answer {
    .failure(CacheError(disk: CacheClosed()))
  }

  mutating func end() -> DiskStore? {
    isEnded = true
    return leave()
  }

  /// The store that is to be left now, once.
  mutating func leave() -> DiskStore? {
    guard isEnded, !hasLeft, case .success(let store) = settled else { return nil }
    hasLeft = true
    return store
  }
}
