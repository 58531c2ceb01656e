import MillpondCore
import MillpondSignals

/// What an archive has still to do, in order; a task that ends when nothing waits does it.
final class ArchiveQueue: Sendable {
  enum Work: Sendable {
    case restore([ArchivedType], EntityStore, askedAt: Revision, Promise<Int>)
    case save([ArchiveEntry])

    /// All that was restored has come back from the store.
    case forgetRestored
    case flush(DiskCache.Durability, Promise<Void>)
  }

  private struct State: Sendable {
    /// What the commit that is being told has changed so far; before the start, all there is.
    var open: [ArchiveEntry] = []
    var hasStarted = false
    var waiting: [Work] = []
    var isWorking = false
  }

  private let state = Locked(State())
  private let saver: ArchiveSaver

  init(_ saver: ArchiveSaver) {
    self.saver = saver
  }

  /// Notes a part of a commit.
  func note(_ entries: [ArchiveEntry]) {
    state.withLock { $0.open += entries }
  }

  /// Everything is there that some commit has left.
  func start() {
    state.withLock { $0.hasStarted = true }
    seal()
  }

  /// The commit is complete.
  func seal() {
    let entries = state.withLock { state -> [ArchiveEntry] in
      guard state.hasStarted else { return [] }
      defer { state.open = [] }
      return state.open
    }
    if !entries.isEmpty { add(.save(entries)) }
  }

  func add(_ work: Work) {
    let isFirst = state.withLock { state in
      state.waiting.append(work)
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if isFirst { Task { await self.work() } }
  }

  private func work() async {
    while let works = next() {
      var entries: [ArchiveEntry] = []
      for work in works {
        switch work {
        case .save(let more): entries += more
        case .restore(let types, let store, let asked, let promise):
          let outcome = await saver.restore(types, store, askedAt: asked)
          store.afterTelling { self.add(.forgetRestored) }
          promise.keep(by: outcome)
        case .forgetRestored:
          await saver.save(entries)
          entries = []
          await saver.forgetRestored()
        case .flush(let durability, let promise):
          await saver.save(entries)
          entries = []
          promise.keep(by: await saver.flush(durability))
        }
      }
      if !entries.isEmpty { await saver.save(entries) }
    }
  }

  private func next() -> [Work]? {
    state.withLock { state in
      defer { state.waiting = [] }
      state.isWorking = !state.waiting.isEmpty
      return state.isWorking ? state.waiting : nil
    }
  }
}
