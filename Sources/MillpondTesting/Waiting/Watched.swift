import MillpondSignals

/// State behind a lock that one can wait for, without polling and without blocking a thread.
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

  /// The state as it is now.
  package var state: State {
    content.withLock { $0.state }
  }

  /// Changes the state, and wakes those who have waited for what it is now.
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
  /// - Throws: ``WaitError/timedOut(awaited:state:)``; `CancellationError` if the task is cancelled.
  package func wait(
    for awaited: @autoclosure @Sendable () -> String,
    until isSatisfied: @escaping @Sendable (State) -> Bool
  ) async throws {
    let number = content.withLock { content in
      content.lastNumber += 1
      return content.lastNumber
    }
    let timeline = Timeline(ContinuousClock())
    let awaited = awaited()
    let watchdog = timeline.schedule(after: Watchdog.limit) {
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
    // A cancellation that came before the entry found nobody to wake.
    if Task.isCancelled { giveUp(number, CancellationError()) }
  }

  private func giveUp(_ number: Int, _ error: any Error) {
    let waiter = content.withLock { $0.waiters.removeValue(forKey: number) }
    waiter?.continuation.resume(throwing: error)
  }
}

/// Why the event that a test waited for did not come.
public enum WaitError: Error, Sendable, CustomStringConvertible {
  /// It had not come when the watchdog's time was over.
  ///
  /// `awaited` says what the test waited for, `state` what there was instead.
  case timedOut(awaited: String, state: String)

  /// The signal ended first, so that it can't come any more.
  case ended(awaited: String, state: String)

  /// What was awaited, and what there was instead.
  public var description: String {
    switch self {
    case .timedOut(let awaited, let state):
      "waited \(Watchdog.limit) for \(awaited); there was \(state)"
    case .ended(let awaited, let state):
      "waited for \(awaited); the signal ended with \(state)"
    }
  }
}

/// How long anything here waits for an event before it gives up.
public enum Watchdog {
  /// Long enough for a busy machine; a test that is right never waits this long.
  ///
  /// Not ten seconds, which would do if tests were alone: where hundreds of them share the two
  /// threads of a small machine's pool, what a test waits for may itself wait as long for a thread.
  public static let limit: Duration = .seconds(60)
}
