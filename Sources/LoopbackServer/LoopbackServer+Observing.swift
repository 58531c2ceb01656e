extension LoopbackServer {
  /// All requests so far with their outcomes, in order of arrival.
  ///
  /// An outcome is entered shortly after the event, so a client's test has to wait for it.
  public var exchanges: [Exchange] { log.snapshot.exchanges }

  /// The number of open connections, including idle ones.
  public var openConnections: Int { log.snapshot.openConnections }

  /// The number of body bytes that the system has accepted so far; it may not have sent them yet.
  ///
  /// Counted at the end of each step of a script, and of each body or part of it around a hold.
  public var bytesSent: Int { log.bytesSent }

  /// Returns the number of requests for a path, including its query.
  public func requestCount(path: String) -> Int { log.snapshot.requestCount(path: path) }

  /// Drops the exchanges so far, for a second phase or to save a benchmark's memory.
  public func forgetExchanges() { log.forgetExchanges() }

  /// Blocks the thread until `condition` holds; returns false on timeout.
  ///
  /// - Parameters:
  ///   - timeout: The longest time to wait.
  ///   - condition: Runs on the calling thread, at first and again after each change.
  @available(*, noasync, message: "use eventually")
  public func wait(
    timeout: Duration = .seconds(60), until condition: (ServerSnapshot) -> Bool
  ) -> Bool {
    log.wait(timeout: timeout, until: condition)
  }

  /// Suspends until `condition` holds; returns false on timeout.
  ///
  /// Waits on a separate thread, so it blocks none of the cooperative pool. Cancelling the task
  /// does not end the wait.
  ///
  /// - Parameters:
  ///   - timeout: The longest time to wait.
  ///   - condition: Runs on that thread, at first and again after each change.
  public func eventually(
    timeout: Duration = .seconds(60), _ condition: @escaping @Sendable (ServerSnapshot) -> Bool
  ) async -> Bool {
    let log = log
    return await withCheckedContinuation { continuation in
      let started = SystemThread.start {
        continuation.resume(returning: log.wait(timeout: timeout, until: condition))
      }
      if !started { continuation.resume(returning: false) }
    }
  }
}
