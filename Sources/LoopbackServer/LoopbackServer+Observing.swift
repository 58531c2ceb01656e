extension LoopbackServer {
  /// Every request so far and what became of it, in the order of arrival.
  ///
  /// An outcome is entered just after the deed, so wait for it when you come from the client.
  public var exchanges: [Exchange] { ledger.snapshot.exchanges }

  /// Connections that are open now, idle ones included.
  public var openConnections: Int { ledger.snapshot.openConnections }

  /// How many bytes of bodies the system has taken so far; it may be on its way to send them.
  ///
  /// Counted when a step of a script, or a body as a whole, is done.
  public var bytesSent: Int { ledger.bytesSent }

  /// How many requests there were for a path, query included.
  public func requestCount(path: String) -> Int { ledger.snapshot.requestCount(path: path) }

  /// Drops the exchanges so far: for a second phase, or for a benchmark's memory.
  public func forgetExchanges() { ledger.forgetExchanges() }

  /// Blocks the thread until `condition` holds; false when it didn't in time.
  ///
  /// - Note: `condition` runs on the calling thread, once at first and again after each change.
  @available(*, noasync, message: "use eventually")
  public func wait(
    timeout: Duration = .seconds(60), until condition: (Snapshot) -> Bool
  ) -> Bool {
    ledger.wait(timeout: timeout, until: condition)
  }

  /// Suspends until `condition` holds; false when it didn't in time.
  ///
  /// Waits on a thread of its own, and so blocks none of the cooperative pool. The task's
  /// cancellation doesn't shorten it.
  public func eventually(
    timeout: Duration = .seconds(60), _ condition: @escaping @Sendable (Snapshot) -> Bool
  ) async -> Bool {
    let ledger = ledger
    return await withCheckedContinuation { continuation in
      let started = Platform.startThread {
        continuation.resume(returning: ledger.wait(timeout: timeout, until: condition))
      }
      if !started { continuation.resume(returning: false) }
    }
  }
}
