import MillpondCore
import MillpondEntities
import MillpondSignals

/// What an archive has still to do, in order; a task that ends when nothing waits does it.
final class ArchiveQueue: Sendable {
  enum Work: Sendable {
    case restore([ArchivedType], EntityStore, FillToken, Promise<Int>)
    case save([ArchiveEntry])
    case flush(Durability, Promise<Void>)
    case erase(Promise<Void>)
  }

  private struct State: Sendable {
    /// The changes of the commit that is being sent so far; before the start, all there are.
    var open: [ArchiveEntry] = []
    var hasStarted = false
    var waiting: [Work] = []
    var isWorking = false

    mutating func takeWaiting() -> [Work] { exchange(&waiting, with: []) }
  }

  private let state = Locked(State())
  private let saver: ArchiveSaver

  init(_ saver: ArchiveSaver) {
    self.saver = saver
  }

  /// Notes a part of a commit.
  func note(_ entries: [ArchiveEntry]) { state.withLock { $0.open += entries } }

  /// Begins to save: everything is noted that some commit has left.
  func start() {
    state.withLock { $0.hasStarted = true }
    seal()
  }

  /// Ends a commit, which is saved as a whole.
  func seal() {
    let entries = state.withLock { $0.hasStarted ? exchange(&$0.open, with: []) : [] }
    if !entries.isEmpty { add(.save(entries)) }
  }

  func add(_ work: Work) {
    let isFirst = state.withLock { state in
      state.waiting.append(work)
      return !exchange(&state.isWorking, with: true)
    }
    if isFirst { Task { await self.work() } }
  }

  private func work() async {
    while var works = next() {
      var entries: [ArchiveEntry] = []
      while !works.isEmpty {
        switch works.removeFirst() {
        case .save(let more): entries += more
        case .restore(let types, let store, let token, let promise):
          let outcome = await saver.restore(types, store, token)
          await store.afterTelling()
          works += state.withLock { $0.takeWaiting() }
          // Commits that the restoring met are saved with what it has to remove because of them, as a
          // whole: saved apart, half a transaction would be restored after a kill.
          entries += works.flatMap(\.entries)
          works.removeAll { !$0.entries.isEmpty }
          await saver.save(entries)
          entries = []
          await saver.forgetRestored()
          promise.keep(by: outcome)
        case .flush(let durability, let promise):
          await saver.save(entries)
          entries = []
          promise.keep(by: await saver.flush(durability))
        case .erase(let promise):
          entries = []
          promise.keep(by: await saver.erase())
        }
      }
      await saver.save(entries)
    }
  }

  private func next() -> [Work]? {
    state.withLock { state in
      let works = state.takeWaiting()
      state.isWorking = !works.isEmpty
      return state.isWorking ? works : nil
    }
  }
}

extension ArchiveQueue.Work {
  /// The entries that it saves.
  fileprivate var entries: [ArchiveEntry] {
    if case .save(let entries) = self { entries } else { [] }
  }
}

extension EntityStore {
  /// Returns when observers have been told of every commit so far.
  fileprivate func afterTelling() async {
    await withCheckedContinuation { continuation in
      afterTelling { continuation.resume() }
    }
  }
}
