import Dispatch
import MillpondSignals

/// Returns whether the awaited event happens within `timeLimit`.
package func happens(
  within timeLimit: Duration, _ wait: @escaping @Sendable () async throws -> Void
) async -> Bool {
  let task = Task { try await wait() }
  let timer = Scheduler(ContinuousClock()).schedule(after: timeLimit) { task.cancel() }
  defer { timer.dispose() }
  return (try? await task.value) != nil
}

/// Runs each body on its own thread, where it may block; returns whether all return in time.
package func onThreads(
  within timeLimit: Duration, _ bodies: [@Sendable () -> Void]
) async -> Bool {
  let done = Watched(0)
  for body in bodies {
    DispatchQueue(label: "a thread of a test").async {
      body()
      done.change { $0 += 1 }
    }
  }
  let count = bodies.count
  return await happens(within: timeLimit) {
    try await done.wait(for: "\(count) threads") { $0 == count }
  }
}
