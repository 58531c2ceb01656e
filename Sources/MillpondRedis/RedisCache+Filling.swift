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

/// A fill, which stores its value if the key still has what the get has seen there.
///
/// So what another process has written since is not replaced, and over its removal nothing is
/// stored, since that leaves a mark. If the key was removed and has nothing again (after a removal
/// of many keys, or in the plain form), the server has reported that by the time it answers, and the
/// value is taken back.
///
/// A fill whose get has not asked this cache asks first what the key has, and waits for the reports
/// of the writes before that: of the writes of a key in one turn of its loop, the server reports
/// only the last one, and nothing to the client that made that.
///
/// What a script has written is reported to its client too, so a fill over a value is forgotten by
/// memory that follows. That report, or an answer of another get in between, refuses the answer of a
/// later get as well. So a fill may also replace what the last fill has left, of an older get or of
/// the same one that brings several values, whatever was reported: if the key still has that, nobody
/// has written it since, and that fill has seen to it that nobody had before. The times behind a value tell it from an equal one that was
/// set later; in the plain form there are none, and the later get's answer is not stored.
///
/// If the value can't be stored, since its life is over or the server is full, what it would replace
/// is removed.
private final class KeyFill: Sendable {
  private let cache: RedisCache
  private let key: String

  /// The value; nil if its life is over at once.
  private let stored: StoredValue?

  private let token: FillToken
  private let order: FillOrder
  private let route: RedisRoute
  private let outcome = Promise<Void>()

  /// Keeps later writes of this process from being forgotten until the end.
  private let pending: PendingWrite

  init(_ cache: RedisCache, _ key: String, _ stored: StoredValue?, _ token: FillToken) {
    self.cache = cache
    self.key = key
    self.stored = stored
    self.token = token
    order = FillOrder(get: token.revision, place: .next())
    route = cache.route(of: key)
    pending = PendingWrite(token.revision)
  }

  func start() -> Signal<Void> {
    if let seen = cache.tracked.takeSeen(key, by: token.revision) {
      replace(seen, by: stored)
    } else {
      ask()
    }
    return outcome.outcome
  }

  private func ask() {
    let isSent = send({ StoredValue.fingerprint(of: $0) }) { result in
      guard case .success(let reply) = result else { return self.end(result) }
      let present = if case .bytes(let fingerprint) = reply { fingerprint } else { Data() }
      if present.isEmpty, self.token.isRenewal { return self.end(.success(.null)) }
      // The reports of all earlier writes have arrived when this is answered.
      self.route.submit(.command("PING", isRepeatable: true)) { result in
        if case .failure = result { return self.end(result) }
        self.replace(.seen(present), by: self.stored, or: .success(.null))
      }
    }
    if !isSent { replaceOlderFill(after: nil, by: stored) }
  }

  /// Stores the value, if the key has what it replaces.
  ///
  /// - Parameters:
  ///   - present: What it replaces.
  ///   - stored: The value; nil to remove what it would replace.
  ///   - refusal: The end if nothing is done; nil if nothing has been sent yet.
  private func replace(
    _ present: KnownValue, by stored: StoredValue?, or refusal: Result<RESPValue, RedisError>? = nil
  ) {
    // A value that is only renewed is from before what a later get has stored.
    if token.isRenewal, let last = cache.tracked.fills.now(key, Lookup()),
      token.revision < last.order.get
    {
      return end(refusal)
    }
    let takeBack = stored.map {
      StoredValue.removal(of: cache.serverKey(key), ifEqualTo: $0.fingerprint)
    }
    let isSent = send(over: present.order.get, takeBack: takeBack) { key in
      stored?.set(key, over: present.fingerprint, orRemove: !token.isRenewal)
        ?? StoredValue.removal(of: key, ifEqualTo: present.fingerprint)
    } _: { result in
      switch result {
      case .success(.null):
        self.replaceOlderFill(after: present, by: stored, or: refusal ?? result)
      case .failure(.server) where stored != nil:
        self.replaceOlderFill(after: present, by: nil, or: result)
      case .success:
        guard let stored, let takeBack else { return self.end(refusal ?? .success(.null)) }
        self.check(stored, over: present.order.get, takeBack)
      case .failure: self.end(result)
      }
    }
    if !isSent { replaceOlderFill(after: present, by: stored, or: refusal) }
  }

  /// Replaces what the last fill, if that is an older one, has left.
  ///
  /// - Parameter former: The last fill with which this was tried: another one may have stored its
  ///   answer meanwhile.
  private func replaceOlderFill(
    after former: KnownValue?, by stored: StoredValue?,
    or refusal: Result<RESPValue, RedisError>? = nil
  ) {
    // A value that is only renewed is from before the get.
    if !token.isRenewal, let last = cache.tracked.fills.now(key, Lookup()),
      former.map({ $0.order < last.order }) ?? true, last.order < order
    {
      return replace(last, by: stored, or: refusal)
    }
    end(refusal)
  }

  /// Sends a command, unless the key was written since the token was taken.
  ///
  /// - Parameter fill: The get of the fill that is replaced: then only writes of this process count.
  private func send(
    over fill: Revision = .none, takeBack: RedisRequest? = nil,
    _ request: (RedisKey) -> RedisRequest, _ answer: @escaping RedisAnswer
  ) -> Bool {
    // Whether older gets are refused is decided at the end.
    let token = token.refusingNone
    let compare = { self.cache.removals.all.compare(self.key, token) != nil }
    return cache.send(key, takeBack: takeBack, answer, if: compare) { orders in
      let isAdmitted =
        fill == .none
        ? orders[cache.number, default: WriteOrder()].admit(token, for: key)
        : orders.lastWrite(of: key, cache.number) <= fill
      return isAdmitted ? request(cache.serverKey(key)) : nil
    }
  }

  /// Takes the fill back if another process wrote the key before, or may have.
  ///
  /// - Parameters:
  ///   - stored: The value that the server has stored.
  ///   - fill: The get of the fill that was replaced.
  ///   - takeBack: The command that takes it back.
  ///   - answered: The last write of the key by this process, if its answer has arrived.
  private func check(
    _ stored: StoredValue, over fill: Revision, _ takeBack: RedisRequest, answered: Revision? = nil
  ) {
    let (isAdmitted, last) = settle()
    if (fill == .none ? token.revision : fill) < last {
      // A later write of this process has replaced the value. If it has stored nothing, it is no
      // longer the last one once its answer has arrived.
      if last == answered { return end(.success(.null), isReplaced: true) }
      return route.submit(.command("PING")) { result in
        if case .failure = result { return self.undo(takeBack) }
        self.check(stored, over: fill, takeBack, answered: last)
      }
    }
    let isReported = cache.redis.loop.tracker.isReporting(cache.tracked, to: route)
    if fill == .none, !isAdmitted || !isReported { return undo(takeBack) }
    // Without times behind it, an equal value that is set later would count as this one.
    if cache.form == .stamped {
      let fill = KnownValue(order: order, fingerprint: stored.fingerprint)
      cache.tracked.fills.set(fill, for: key)
    }
    // Memory that follows may have the older value, of which nothing was reported.
    if fill != .none { cache.changed(key) }
    end(.success(.simple("OK")))
  }

  /// Refuses the fills of older gets if this one is of a reload; returns whether the key was not
  /// written since the token was taken, and the last write by this process.
  private func settle() -> (isAdmitted: Bool, lastWrite: Revision) {
    route.connection.withState { [number = cache.number, key, token] state in
      let isAdmitted = state.orders[number]?.admit(token, for: key) ?? true
      return (isAdmitted, state.orders.lastWrite(of: key, number))
    }
  }

  private func undo(_ takeBack: RedisRequest) {
    route.takeBack(takeBack)
    end(.success(.null))
  }

  /// Ends the fill.
  ///
  /// - Parameters:
  ///   - result: Null if nothing was stored; nil if nothing was sent.
  ///   - isReplaced: Whether a later write has replaced it, of which what follows has been told.
  private func end(_ result: Result<RESPValue, RedisError>?, isReplaced: Bool = false) {
    // Older answers are out of date, whether this one could be stored or not.
    if token.isReload { _ = settle() }
    pending.end()
    switch result {
    case .success(let reply) where reply != .null: return outcome.keep(by: .just(()))
    case .success, nil: outcome.keep(by: .empty)
    case .failure(let error): outcome.keep(by: .fail(CacheError(error, of: cache.redis)))
    }
    if result == nil { return cache.forgetUntracked(key) }
    // The layers above have stored the value as well, and of a key that the server does not have, it
    // reports no removal.
    if !isReplaced { cache.changed(key) }
  }
}
