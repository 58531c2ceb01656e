import Foundation
import MillpondCore
import MillpondSignals

/// The answers of lower layers, which never win over a write.
extension RedisCache {
  func fill(_ key: String, _ stamped: Stamped<Data>, _ token: FillToken) -> Signal<Void> {
    if token.isEnded { return .empty }
    let token = token.accepted
    guard let stored = stored(stamped, isFill: true) else { return .empty }
    let subject = Promise<Void>()
    let connection = redis.connection(of: key)
    // Later writes of this process are remembered until the fill has been checked.
    let pending = PendingWrite(token.revision)
    let isSent = admitting(
      key, { stored.set($0, []) },
      { result in
        switch result {
        case .success: self.checkFill(key, stored, token, on: connection)
        case .failure(let error):
          self.forgetUntracked(key)
          // The server may have stored it, or will, and what it reports first does not arrive.
          if error.leavesDoubt { connection.takeBack(stored.takeBack(self.serverKey(key))) }
        }
        pending.end()
        let outcome = Signal<Void>.of(result.map { _ in () }, from: self.redis)
        subject.keep(by: outcome.filter { _ in false })
      }, compare: { removals.compare(key, token) },
      mustCompare: { $0.mustCompare(token, compared: $1) },
      admit: { $0[number, default: WriteOrder()].admit(token, for: key, compared: $1) })
    if isSent { return subject.outcome.startWith(()) }
    forgetUntracked(key)
    return .empty
  }

  /// Takes a fill back if another process wrote the key between its get and its fill.
  ///
  /// Every report of such a write has arrived before the answer to the fill.
  private func checkFill(
    _ key: String, _ stored: StoredValue, _ token: FillToken, on connection: RedisConnection
  ) {
    let isOverwriting = connection.withState { [number] state in
      guard var order = state.orders[number], !order.admit(token, for: key) else { return false }
      // A later write of this process has replaced it.
      return !token.isEarlier(than: order.lastWrite(of: key))
    }
    guard isOverwriting else { return }
    connection.takeBack(stored.takeBack(serverKey(key)))
    // The layers above have stored the value as well.
    changed(key, .next())
  }
}

extension FillToken {
  /// Whether a write was made after this was taken.
  func isEarlier(than write: Revision) -> Bool { revision < write }
}

extension RedisError {
  /// Whether a command that failed with this may have been carried out, or will be.
  fileprivate var leavesDoubt: Bool {
    switch self {
    case .connectionLost, .timedOut, .system, .malformedReply: true
    case .unknownHost, .pathTooLong, .refused, .server, .tooManyCommands, .tooManyBytes,
      .notConnected, .closed:
      false
    }
  }
}
