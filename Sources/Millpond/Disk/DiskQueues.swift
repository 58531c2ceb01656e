import Dispatch
import MillpondSignals

/// Lets many wait for one synchronizing: whoever comes while one is going on shares the next.
final class GroupSync: Sendable {
  typealias Done = @Sendable ((any Error)?) -> Void

  private let queue = DispatchQueue(label: "millpond.disk.synchronizing")
  private let state = Locked(State())

  private struct State: Sendable {
    var waiting: [Done] = []
    var isRunning = false
  }

  /// Runs `work`, which blocks, on a thread of its own, and then `done`.
  func run(_ work: @escaping @Sendable () throws -> Void, _ done: @escaping Done) {
    let isFirst = state.withLock { state in
      state.waiting.append(done)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isFirst { queue.async { self.serve(work) } }
  }

  private func serve(_ work: () throws -> Void) {
    while true {
      let served = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isRunning = false }
        return state.waiting
      }
      if served.isEmpty { return }
      var failure: (any Error)?
      do { try work() } catch { failure = error }
      for done in served { done(failure) }
    }
  }
}

/// A few queues on which calls may block; what concerns one key is done in order.
struct ReadQueues: Sendable {
  private let queues: [DispatchQueue]

  init(_ label: String, count: Int) {
    queues = (0..<count).map {
      DispatchQueue(label: "\(label) \($0)", autoreleaseFrequency: .workItem)
    }
  }

  /// Runs `work` after all that was to be done before in the key's lane.
  func run(_ key: KeyHash, _ work: @escaping @Sendable () -> Void) {
    queues[Int(key.value % UInt64(queues.count))].async(execute: work)
  }
}
