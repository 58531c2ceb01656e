import Foundation
import MillpondCore
import MillpondSignals

/// The answers of lower layers, which never win over a write.
extension RedisCache {
  func fill(_ key: String, _ stamped: Stamped<Data>, _ token: FillToken) -> Signal<Void> {
    if token.isEnded { return .empty }
    guard let stored = stored(stamped, isFill: true) else { return .empty }
    return KeyFill(self, key, stored, token.accepted).start()
  }
}

/// A fill, in steps: it asks what the key has, and stores its value if the key still has that.
///
/// The server reports the writes of other processes up to the first answer before the next one, and
/// refuses to store over a later one. So what another process has set is not replaced; and if it has
/// removed the key, the value is taken back. One step would not do: of the writes of a key in one
/// turn of its loop, the server reports only the last one, and nothing to the client that made that.
private final class KeyFill: Sendable {
  private let cache: RedisCache
  private let key: String
  private let stored: StoredValue
  private let token: FillToken
  private let connection: RedisConnection
  private let outcome = Promise<Void>()

  /// Keeps later writes of this process from being forgotten until the end.
  private let pending: PendingWrite

  init(_ cache: RedisCache, _ key: String, _ stored: StoredValue, _ token: FillToken) {
    self.cache = cache
    self.key = key
    self.stored = stored
    self.token = token
    connection = cache.redis.connection(of: key)
    pending = PendingWrite(token.revision)
  }

  func start() -> Signal<Void> {
    let isSent = submit({ StoredValue.fingerprint(of: $0) }) { result in
      switch result {
      case .success(.bytes(let present)): self.awaitReports { self.store(over: present) }
      case .success(.null): self.store(over: nil)
      case .success: self.end(.failure(.malformedReply("the fingerprint of a value")))
      case .failure(let error): self.end(.failure(error))
      }
    }
    if isSent { return outcome.outcome.startWith(()) }
    refuse()
    return .empty
  }

  /// Continues when the reports of all writes before the last answer have arrived.
  private func awaitReports(_ next: @escaping @Sendable () -> Void) {
    connection.submit(.command("PING", isRepeatable: true)) { result in
      if case .failure(let error) = result { return self.end(.failure(error)) }
      next()
    }
  }

  private func store(over present: Data?) {
    let takeBack = stored.takeBack(cache.serverKey(key))
    let isSent = submit(takeBack: takeBack, { self.stored.set($0, over: present) }) { result in
      switch result {
      case .success(.null):
        // Another process has written it. The layers above have stored the value as well.
        self.cache.changed(self.key, .next())
      case .success: self.check(takeBack)
      case .failure: break
      }
      self.end(result.map { _ in () })
    }
    if !isSent { refuse() }
  }

  private func refuse() {
    cache.forgetUntracked(key)
    end(.success(()))
  }

  /// Sends a command, unless the key was written since the token was taken.
  private func submit(
    takeBack: RedisRequest? = nil, _ request: @escaping @Sendable (RedisKey) -> RedisRequest,
    _ answer: @escaping RedisAnswer
  ) -> Bool {
    cache.admitting(
      key, request, answer, takeBack: takeBack,
      compare: { cache.removals.compare(key, token) },
      mustCompare: { $0.mustCompare(token, compared: $1) },
      admit: { $0[cache.number, default: WriteOrder()].admit(token, for: key, compared: $1) })
  }

  /// Takes the fill back if another process wrote the key before, or may have.
  private func check(_ takeBack: RedisRequest) {
    let isReported = cache.redis.loop.tracker.isReporting(cache.tracked, to: connection)
    let isOverwriting = connection.withState { [number = cache.number, key, token] state in
      guard var order = state.orders[number] else { return !isReported }
      // A later write of this process has replaced it.
      if token.isEarlier(than: order.lastWrite(of: key)) { return false }
      return !isReported || !order.admit(token, for: key)
    }
    guard isOverwriting else { return }
    connection.takeBack(takeBack)
    // The layers above have stored the value as well.
    cache.changed(key, .next())
  }

  private func end(_ result: Result<Void, RedisError>) {
    if case .failure = result { cache.forgetUntracked(key) }
    pending.end()
    outcome.keep(by: Signal<Void>.of(result, from: cache.redis).filter { _ in false })
  }
}

extension FillToken {
  /// Whether a write was made after this was taken.
  func isEarlier(than write: Revision) -> Bool { revision < write }
}
