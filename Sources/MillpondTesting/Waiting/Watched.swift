import MillpondSignals

/// State behind a lock that a task can wait for, without polling and without blocking a thread.
package final class Watched<State: Sendable>: Sendable {
  private struct Content: Sendable {
    var state: State
    var waiters: [Int: Waiter] = [:]
    var lastNumber = 0
  }

  private struct Waiter: Sendable {
    let isSatisfied: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  private let content: Locked<Content>

  package init(_ state: State) {
    content = Locked(Content(state: state))
  }

  /// The current state.
  package var state: State {
    content.withLock { $0.state }
  }

  /// Changes the state, and wakes the tasks whose condition it satisfies.
  @discardableResult
  package func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, woken) = content.withLock { content in
      let result = body(&content.state)
      let ready = content.waiters.filter { $0.value.isSatisfied(content.state) }
      for number in ready.keys { content.waiters[number] = nil }
      return (result, ready.sorted { $0.key < $1.key }.map(\.value.continuation))
    }
    for continuation in woken { continuation.resume() }
    return result
  }

  /// Waits until `isSatisfied`, which must be pure: it runs under the lock.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``; `CancellationError` if the task is
  ///   cancelled.
  package func wait(
    for awaited: @autoclosure @Sendable () -> String,
    until isSatisfied: @escaping @Sendable (State) -> Bool
  ) async throws {
    let number = content.withLock { content in
      content.lastNumber += 1
      return content.lastNumber
    }
    let scheduler = Scheduler(ContinuousClock())
    let awaited = awaited()
    let watchdog = scheduler.schedule(after: Watchdog.limit) {
      self.giveUp(number, WaitError.timedOut(awaited: awaited, state: "\(self.state)"))
    }
    defer { watchdog.dispose() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enter(number, Waiter(isSatisfied: isSatisfied, continuation: continuation))
      }
    } onCancel: {
      giveUp(number, CancellationError())
    }
  }

  private func enter(_ number: Int, _ waiter: Waiter) {
    let isReady = content.withLock { content in
      let isReady = waiter.isSatisfied(content.state)
      if !isReady { content.waiters[number] = waiter }
      return isReady
    }
    if isReady { return waiter.continuation.resume() }
    // A cancellation before the entry found no waiter to wake.
    if Task.isCancelled { giveUp(number, CancellationError()) }
  }

  private func giveUp(_ number: Int, _ error: any Error) {
    let waiter = content.withLock { $0.waiters.removeValue(forKey: number) }
    waiter?.continuation.resume(throwing: error)
  }
}

/// The reasons why an event that a test waited for did not happen.
public enum WaitError: Error, Sendable, CustomStringConvertible {
  /// The event had not happened at the watchdog's limit.
  ///
  /// `awaited` describes the event, `state` the observed state.
  case timedOut(awaited: String, state: String)

  /// The signal ended first, so the event cannot happen any more.
  case ended(awaited: String, state: String)

  /// The awaited event, and the observed state.
  public var description: String {
    switch self {
    case .timedOut(let awaited, let state):
      "waited \(Watchdog.limit) for \(awaited); there was \(state)"
    case .ended(let awaited, let state):
      "waited for \(awaited); the signal ended with \(state)"
    }
  }
}

/// The time limit of every wait for an event in this module.
public enum Watchdog {
  /// The limit: long enough for a busy machine, and never reached in a correct test.
  ///
  /// Ten seconds would do for tests that run alone. But where hundreds of tests share the two
  /// threads of a small machine's pool, an awaited event may itself wait that long for a thread.
  public static let limit: Duration = .seconds(60)
}
