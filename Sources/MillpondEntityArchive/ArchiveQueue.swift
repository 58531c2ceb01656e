import MillpondCore
import MillpondEntities
import MillpondSignals

/// The pending work of an archive, in order, done by a task that ends when nothing waits.
final class ArchiveQueue: Sendable {
  enum Work: Sendable {
    case restore([ArchivedType], EntityStore, FillToken, Promise<Int>)
    case save([ArchiveEntry])
    case flush(Durability, Promise<Void>)
    case erase(Promise<Void>)
  }

  private struct State: Sendable {
    /// The changes of the present commit so far; before the start, all changes.
    var open: [ArchiveEntry] = []
    var hasStarted = false
    var waiting: [Work] = []
    var isWorking = false

    mutating func takeWaiting() -> [Work] { exchange(&waiting, with: []) }
  }

  private let state = Locked(State())
  private let writer: ArchiveWriter

  init(_ writer: ArchiveWriter) {
    self.writer = writer
  }

  /// Records a part of a commit.
  func note(_ entries: [ArchiveEntry]) { state.withLock { $0.open += entries } }

  /// Begins to save; the changes so far are those of whole commits.
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
          let outcome = await writer.restore(types, store, token)
          await store.afterDelivery()
          works += state.withLock { $0.takeWaiting() }
          // Commits made during the restoring are saved together with the removals that they cause:
          // saved apart, half a transaction would be restored after a kill.
          entries += works.flatMap(\.entries)
          works.removeAll { !$0.entries.isEmpty }
          await writer.save(entries)
          entries = []
          await writer.forgetRestored()
          promise.keep(by: outcome)
        case .flush(let durability, let promise):
          await writer.save(entries)
          entries = []
          promise.keep(by: await writer.flush(durability))
        case .erase(let promise):
          entries = []
          promise.keep(by: await writer.erase())
        }
      }
      await writer.save(entries)
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
  /// Returns when observers have received every commit so far.
  fileprivate func afterDelivery() async {
    await withCheckedContinuation { continuation in
      afterDelivery { continuation.resume() }
    }
  }
}
