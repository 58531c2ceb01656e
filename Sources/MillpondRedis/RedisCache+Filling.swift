import Foundation
import MillpondCore
import MillpondSignals

/// The answers of lower layers, which never win over a write.
extension RedisCache {
  func fill(_ key: String, _ stamped: Stamped<Data>, _ token: FillToken) -> Signal<Void> {
    if token.isEnded { return .empty }
    let stored = stored(stamped, isFill: true)
    if stored == nil, token.isRenewal { return .empty }
    return KeyFill(self, key, stored, token.accepted).start()
  }
}

/// A fill, in steps: it asks what the key has, and stores its value if the key still has that.
///
/// The server reports the writes of other processes up to the first answer before the next one, so
/// a step in between waits for that; and it refuses to store over a later one. So what another
/// process has set is not replaced, and over its removal nothing is stored, since that leaves a mark.
/// If something was changed all the same (by a removal of many keys, or in the plain form), the value
/// is taken back. One step would not do: of the writes of a key in one turn of its loop, the server
/// reports only the last one, and nothing to the client that made that.
/// What a script has written is reported to its client too, so a fill over a value is forgotten by
/// memory that follows.
///
/// That report, or an answer of another get in between, refuses the answer of a later get as well.
/// So a fill may also replace what the last fill of an older get has left, whatever was reported: if
/// the key still has that, nobody has written it since, and that fill has seen to it that nobody had
/// before. The times behind a value tell it from an equal one that was set later; in the plain form
/// there are none, and the later get's answer is not stored.
///
/// If the value can't be stored, since its life is over or the server is full, what it would replace
/// is removed.
private final class KeyFill: Sendable {
  private let cache: RedisCache
  private let key: String

  /// The value; nil if its life is over at once.
  private let stored: StoredValue?

  private let token: FillToken
  private let connection: RedisConnection
  private let outcome = Promise<Void>()

  /// Keeps later writes of this process from being forgotten until the end.
  private let pending: PendingWrite

  init(_ cache: RedisCache, _ key: String, _ stored: StoredValue?, _ token: FillToken) {
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
      case .success(.null) where self.token.isRenewal: self.end(.success(.null))
      case .success(.null): self.awaitReports { self.store(over: nil) }
      case .success: self.end(.failure(.malformedReply("the fingerprint of a value")))
      case .failure(let error): self.end(.failure(error))
      }
    }
    if isSent || replaceOlderFill(by: stored, { self.end($0, isReplaced: true) }) {
      return outcome.outcome
    }
    pending.end()
    cache.forgetUntracked(key)
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
    // A value that is only renewed is from before what a later get has stored.
    if token.isRenewal, let last = cache.tracked.fills.now(key, Lookup()),
      token.revision < last.revision
    {
      return end(.success(.null))
    }
    // Asked also if the key has nothing: once that is answered, what an older get stores is known.
    guard let stored else { return remove(present ?? Data()) }
    let takeBack = stored.takeBack(cache.serverKey(key))
    let isSent = submit(takeBack: takeBack, { stored.set($0, over: present) }) { result in
      switch result {
      case .success(.null): self.refused(stored)
      case .failure(.server): self.remove(present, result)
      case .failure: self.end(result)
      case .success: self.check(takeBack)
      }
    }
    if !isSent { refused(stored) }
  }

  /// Removes what the key has if it is still this, since the value that should replace it can't be
  /// stored, and ends with `result`.
  private func remove(
    _ present: Data?, _ result: Result<RESPValue, RedisError> = .success(.null)
  ) {
    guard let present, !token.isRenewal else { return refused(nil, result) }
    let isSent = submit({ StoredValue.removal(of: $0, ifEqualTo: present) }) { removal in
      switch removal {
      case .success(.integer(0)), .success(.null): self.refused(nil, result)
      case .success: self.end(result)
      case .failure: self.end(removal)
      }
    }
    if !isSent { refused(nil, result) }
  }

  /// Replaces what the fill of an older get has left; ends with `result` if there is none.
  private func refused(
    _ stored: StoredValue?, _ result: Result<RESPValue, RedisError> = .success(.null)
  ) {
    let refusal: RedisAnswer = { answer in
      if case .failure = answer { self.end(answer) } else { self.end(result) }
    }
    if !replaceOlderFill(by: stored, refusal) { end(result) }
  }

  /// Stores the value if the key still has what the last fill has left, and if that was of an older
  /// get; removes that if the value can't be stored.
  ///
  /// - Parameters:
  ///   - stored: The value; nil if it can't be stored.
  ///   - former: The get of the last fill with which this was tried: another one may have stored
  ///     its answer meanwhile.
  ///   - refusal: Receives null, or the failure, if that was not so.
  /// - Returns: Whether there was such a fill, and no write of this process since.
  private func replaceOlderFill(
    by stored: StoredValue?, after former: Revision = .none, _ refusal: @escaping RedisAnswer
  ) -> Bool {
    // A value that is only renewed is from before the get.
    guard !token.isRenewal, let last = cache.tracked.fills.now(key, Lookup()),
      former < last.revision, last.revision < token.revision
    else { return false }
    let request = { @Sendable (key: RedisKey) in
      stored?.set(key, over: last.fingerprint)
        ?? StoredValue.removal(of: key, ifEqualTo: last.fingerprint)
    }
    return cache.admitting(
      key, request,
      { result in
        switch result {
        case .success(.null), .success(.integer(0)):
          if !self.replaceOlderFill(by: stored, after: last.revision, refusal) {
            refusal(.success(.null))
          }
        case .failure(.server) where stored != nil:
          if !self.replaceOlderFill(by: nil, after: former, refusal) { refusal(result) }
        case .failure: refusal(result)
        case .success:
          if self.settle().lastWrite > last.revision {
            return self.end(.success(.null), isReplaced: true)
          }
          if stored == nil { return self.end(.success(.null)) }
          // Memory that follows may have the older value, of which nothing was reported.
          self.cache.changed(self.key)
          self.keep()
        }
      }, takeBack: stored?.takeBack(cache.serverKey(key)),
      compare: { cache.removals.compare(key, token) },
      mustCompare: { $0.mustCompare(token, compared: $1) },
      admit: { orders, _ in
        orders[cache.number]?.lastWrite(of: key) ?? .none <= last.revision
      })
  }

  /// Sends a command, unless the key was written since the token was taken.
  private func submit(
    takeBack: RedisRequest? = nil, _ request: @escaping @Sendable (RedisKey) -> RedisRequest,
    _ answer: @escaping RedisAnswer
  ) -> Bool {
    // Whether older gets are refused is decided when the value is stored.
    let token = token.refusingNone
    return cache.admitting(
      key, request, answer, takeBack: takeBack,
      compare: { cache.removals.compare(key, token) },
      mustCompare: { $0.mustCompare(token, compared: $1) },
      admit: { $0[cache.number, default: WriteOrder()].admit(token, for: key, compared: $1) })
  }

  /// Refuses the fills of older gets if this one is of a reload; returns whether the key was not
  /// written since the token was taken, and the last write by this process.
  ///
  /// - Parameter isReported: Whether the server reports the writes of others; else there may have
  ///   been one.
  private func settle(_ isReported: Bool = true) -> (isAdmitted: Bool, lastWrite: Revision) {
    connection.withState { [number = cache.number, key, token] state in
      let isAdmitted = isReported && state.orders[number]?.admit(token, for: key) ?? true
      return (isAdmitted, state.orders[number]?.lastWrite(of: key) ?? .none)
    }
  }

  /// Ends the fill, whose value the server has.
  private func keep() {
    // Without times behind it, an equal value that is set later would count as this one.
    if let stored, cache.form == .stamped {
      let fill = LastFill(revision: token.revision, fingerprint: stored.fingerprint)
      cache.tracked.fills.set(fill, for: key)
    }
    end(.success(.boolean(true)))
  }

  /// Takes the fill back if another process wrote the key before, or may have.
  ///
  /// - Parameters:
  ///   - takeBack: The command that does so.
  ///   - answered: The last write of the key by this process, if its answer has arrived.
  private func check(_ takeBack: RedisRequest, answered: Revision? = nil) {
    let isReported = cache.redis.loop.tracker.isReporting(cache.tracked, to: connection)
    let (isAdmitted, last) = settle(isReported)
    if isAdmitted { return keep() }
    if token.revision < last {
      // A later write of this process has replaced the value. If it has stored nothing, it is no
      // longer the last one once its answer has arrived.
      if last == answered { return end(.success(.null), isReplaced: true) }
      return connection.submit(.command("PING")) { result in
        if case .failure = result { return self.undo(takeBack) }
        self.check(takeBack, answered: last)
      }
    }
    undo(takeBack)
  }

  private func undo(_ takeBack: RedisRequest) {
    connection.takeBack(takeBack)
    end(.success(.null))
  }

  /// Ends the fill, with null if nothing was stored.
  private func end(_ result: Result<RESPValue, RedisError>, isReplaced: Bool = false) {
    // Older answers are out of date, whether this one could be stored or not.
    if token.isReload { _ = settle() }
    pending.end()
    switch result {
    case .success(let reply) where reply != .null: return outcome.keep(by: .just(()))
    case .success: outcome.keep(by: .empty)
    case .failure(let error): outcome.keep(by: .fail(CacheError(error, of: cache.redis)))
    }
    // The layers above have stored the value as well, and of a key that the server does not have, it
    // reports no removal.
    if !isReplaced { cache.changed(key) }
  }
}
