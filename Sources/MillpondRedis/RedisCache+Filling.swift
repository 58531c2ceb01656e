import Foundation
import MillpondCore
import MillpondSignals

/// The answers of lower layers, which never win over a write.
extension RedisCache {
  func fill(_ key: String, _ stamped: Stamped<Data>, _ token: FillToken) -> Signal<Void> {
    if token.isEnded { return .empty }
    let token = token.accepted
    guard let request = setting(stamped, isFill: true) else { return .empty }
    let subject = Promise<Void>()
    let connection = redis.connection(of: key)
    // Later writes of this process are remembered until the fill has been checked.
    let pending = PendingWrite(token.revision)
    let isSent = admitting(
      key, request,
      { result in
        switch result {
        case .success: self.checkFill(key, token, on: connection)
        case .failure: self.forgetUntracked(key)
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

  /// Removes a key again if another process wrote it between its get and its fill.
  ///
  /// Every report of such a write has arrived before the answer to the fill.
  private func checkFill(_ key: String, _ token: FillToken, on connection: RedisConnection) {
    let isRemoved = connection.submit({ _ in }) { [number, prefix] orders in
      guard var order = orders[number], !order.admit(token, for: key),
        token.isEarlier(than: order.lastWrite(of: key)) == false
      else { return nil }
      return .command("UNLINK", .key(RedisKey(prefix: prefix, key: key)))
    }
    // The layers above have stored the value as well.
    if isRemoved { changed(key, .next()) }
  }
}

extension FillToken {
  /// Whether a write was made after this was taken.
  func isEarlier(than write: Revision) -> Bool { revision < write }
}
