import Dispatch
import MillpondSignals

/// A synchronization that many callers share: callers that arrive while one is running wait for the
/// next.
final class GroupSync: Sendable {
  typealias Done = @Sendable ((any Error)?) -> Void

  private let queue = DispatchQueue(label: "millpond.disk.synchronizing")
  private let state = Locked(State())

  private struct State: Sendable {
    var waiting: [Done] = []
    var isRunning = false
  }

  func run(_ work: @escaping @Sendable () throws -> Void, _ done: @escaping Done) {
    let isFirst = state.withLock { state in
      state.waiting.append(done)
      return !exchange(&state.isRunning, with: true)
    }
    if isFirst { queue.async { self.serve(work) } }
  }

  private func serve(_ work: () throws -> Void) {
    while true {
      let served = state.withLock { state in
        state.isRunning = !state.waiting.isEmpty
        return exchange(&state.waiting, with: [])
      }
      if served.isEmpty { return }
      var failure: (any Error)?
      do { try work() } catch { failure = error }
      for done in served { done(failure) }
    }
  }
}
