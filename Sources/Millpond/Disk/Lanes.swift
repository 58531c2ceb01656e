import Dispatch
import MillpondSignals

/// A few threads of our own, where calls may block; what concerns one entry is done in order.
struct Lanes: Sendable {
  private let queues: [DispatchQueue]

  init(_ label: String, count: Int) {
    queues = (0..<count).map {
      DispatchQueue(label: "\(label) \($0)", autoreleaseFrequency: .workItem)
    }
  }

  /// Runs `work` after all that was to be done before in the entry's lane.
  func run(_ name: EntryName, _ work: @escaping @Sendable () -> Void) {
    queues[lane(of: name)].async(execute: work)
  }

  /// Runs `work` for all names, each in its lane, and then `done`, with the first failure.
  ///
  /// Lanes without names are passed through too: `done` comes after everything before this call.
  func runAll(
    _ names: [EntryName], _ work: @escaping @Sendable (EntryName) throws -> Void,
    then done: @escaping @Sendable ((any Error)?) -> Void
  ) {
    var shares = [[EntryName]](repeating: [], count: queues.count)
    for name in names { shares[lane(of: name)].append(name) }
    let progress = Locked((remaining: queues.count, failure: (any Error)?.none))
    for (queue, names) in zip(queues, shares) {
      queue.async {
        var failure: (any Error)?
        for name in names {
          do { try work(name) } catch { failure = failure ?? error }
        }
        let (isLast, firstFailure) = progress.withLock { progress in
          progress.remaining -= 1
          if progress.failure == nil { progress.failure = failure }
          return (progress.remaining == 0, progress.failure)
        }
        if isLast { done(firstFailure) }
      }
    }
  }

  private func lane(of name: EntryName) -> Int {
    Int(name.high % UInt64(queues.count))
  }
}
