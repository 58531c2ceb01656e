import Synchronization

/// A record of the server's events, on which threads can wait.
final class RequestLog: Sendable {
  private struct State: Sendable {
    var exchanges: [Exchange] = []
    var openConnections = 0
    var forgotten = 0
    var version = 0

    var snapshot: ServerSnapshot {
      ServerSnapshot(exchanges: exchanges, openConnections: openConnections)
    }
  }

  private let state = Monitor(State())
  private let sent = Atomic(0)

  /// Outside the book, because no thread waits for it, and it grows with each piece.
  var bytesSent: Int { sent.load(ordering: .relaxed) }

  var snapshot: ServerSnapshot { state.withLock { $0.snapshot } }

  /// Blocks until a snapshot meets `condition`, which runs without the lock; returns false on
  /// timeout.
  func wait(timeout: Duration, until condition: (ServerSnapshot) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + timeout
    while true {
      let (snapshot, version) = state.withLock { ($0.snapshot, $0.version) }
      if condition(snapshot) { return true }
      guard state.wait(until: deadline, { $0.version != version }) else { return false }
    }
  }

  /// Enters a request, and returns its number for ``end(_:_:)``.
  func begin(_ request: Request) -> Int {
    change {
      $0.exchanges.append(Exchange(request: request, outcome: .pending))
      return $0.forgotten + $0.exchanges.count - 1
    }
  }

  func end(_ number: Int, _ outcome: RequestOutcome) {
    change {
      guard number >= $0.forgotten else { return }
      $0.exchanges[number - $0.forgotten].outcome = outcome
    }
  }

  func count(bytesSent count: Int) { sent.wrappingAdd(count, ordering: .relaxed) }

  func openConnection() { change { $0.openConnections += 1 } }

  func closeConnection() { change { $0.openConnections -= 1 } }

  func forgetExchanges() {
    change {
      $0.forgotten += $0.exchanges.count
      $0.exchanges = []
    }
  }

  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    state.change {
      $0.version += 1
      return body(&$0)
    }
  }
}
