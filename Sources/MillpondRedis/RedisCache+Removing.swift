import Foundation
import MillpondCore
import MillpondSignals

/// Removals of one key, of which other processes learn also if the server does not have it.
extension RedisCache {
  /// Removes a key.
  ///
  /// The server reports nothing of a key that it does not have, but another process may have
  /// fetched its value before, and store it yet. So in place of the value a mark is left for a
  /// moment, which is reported, and over which no fill is stored that found something else. In the
  /// plain form, in which other programs would take the mark for a value, it is left only while
  /// nothing else is carried out.
  func remove(_ key: String, _ revision: Revision) -> Signal<Void> {
    let subject = Promise<Void>()
    let end: RedisAnswer = { result in
      subject.keep(by: .of(result.map { _ in () }, from: self.redis))
    }
    let removal = KeyMark()
    let place = submit(key, revision, form == .stamped ? removal.set : removal.unlink) { result in
      switch result {
      case .success(.integer(0)): self.removeAgain(key, revision, by: removal.report, end)
      case .failure(let error) where error.serverCode == "OOM":
        self.removeAgain(key, revision, by: removal.setAfterRemoval, end)
      case .success, .failure: end(result)
      }
    }
    return place == nil ? .just(()) : subject.outcome
  }

  /// Sends a further command of a removal, unless this process has written the key later.
  private func removeAgain(
    _ key: String, _ revision: Revision, by request: @Sendable (RedisKey) -> RedisRequest,
    _ end: @escaping RedisAnswer
  ) {
    let isSent = redis.connection(of: key).submit(end) { [number, prefix] orders in
      let last = orders[number]?.lastWrite(of: key) ?? .none
      return last > revision ? nil : request(RedisKey(prefix: prefix, key: key))
    }
    if !isSent { return end(.success(.null)) }
    changed(key)
  }
}

/// The mark of one removal, which is shorter than every value in the stamped form, and the commands
/// that leave it.
private struct KeyMark: Sendable {
  private let text = String(UInt64.random(in: 0 ... .max), radix: 36)

  /// The time for which it is left, in milliseconds: longer than a fill takes.
  private static let life: Int64 = 1_000

  func set(_ key: RedisKey) -> RedisRequest {
    .command("SET", .key(key), .text(text), "PX", .number(Self.life))
  }

  func unlink(_ key: RedisKey) -> RedisRequest { .command("UNLINK", .key(key)) }

  /// A script that has removed something may write also on a server that is full.
  func setAfterRemoval(_ key: RedisKey) -> RedisRequest {
    .command(
      "EVAL", "redis.call('UNLINK',KEYS[1]) return redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2])",
      "1", .key(key), .text(text), .number(Self.life))
  }

  /// The server reports a key that is set and removed in one step.
  func report(_ key: RedisKey) -> RedisRequest {
    .command(
      "EVAL",
      "redis.call('UNLINK',KEYS[1]) redis.call('SET',KEYS[1],'') return redis.call('UNLINK',KEYS[1])",
      "1", .key(key))
  }
}

/// Removals of all keys, or by predicate: steps of `SCAN` and `UNLINK`.
extension RedisCache {
  /// Removes the keys that satisfy the predicate, or all without one.
  func removeAll(_ predicate: KeyPredicate<String>?, _ revision: Revision) -> Signal<Void> {
    let subject = Promise<Void>()
    let replies = CombinedReplies(of: 1) { subject.keep(by: .of($0, from: self.redis)) }
    let (number, mark) = removals.begin(predicate ?? KeyPredicate { _ in true }, revision, replies)
    note(mark, ofAll: predicate == nil, revision)
    tracked.fills.removeAll()
    redis.loop.tracker.clearedHere(tracked)
    let removal = KeyRemoval(cache: self, predicate: predicate, revision: revision) { result in
      self.removals.end(number)
      replies.add(result)
    }
    // Earlier writes on other connections have to be found.
    redis.afterAllCommands { result in
      if case .failure = result { return removal.end(result) }
      removal.scan(from: "0")
    }
    return subject.outcome
  }

  /// Removes the value that a running removal has not reached yet, before a later write of its key.
  ///
  /// The removal leaves the key alone from then on, but the write may store nothing: it may fail, or
  /// be one of those that replace no value. So the removal succeeds only if this does.
  func removeFormer(_ key: String, before write: Revision) {
    let removals = removals.concerning(key).filter {
      $0.revision < write && $0.replies.expectAnother()
    }
    if removals.isEmpty { return }
    let answer: RedisAnswer = { result in
      for removal in removals { removal.replies.add(result.map { _ in () }) }
    }
    let isSent = redis.connection(of: key).submit(answer) { [number, prefix] orders in
      let last = orders[number]?.lastWrite(of: key) ?? .none
      guard removals.contains(where: { $0.revision >= last }) else { return nil }
      return .command("UNLINK", .key(RedisKey(prefix: prefix, key: key)))
    }
    if !isSent { answer(.success(.null)) }
  }

  /// Lets earlier writes and fills that arrive from now on be refused.
  private func note(_ mark: RemovalMark, ofAll isOfAll: Bool, _ revision: Revision) {
    for connection in redis.loop.connections {
      let forgotten = connection.withState { state in
        if isOfAll {
          _ = state.orders[number, default: WriteOrder()].admitAll(revision)
        } else {
          state.orders[number, default: WriteOrder()].note(mark)
        }
        return state.orders[number]?.takeForgotten() ?? []
      }
      withExtendedLifetime(forgotten) {}  // released here, not under the lock
    }
    // Only now, since the orders refuse what these removals refused.
    if isOfAll { removals.forget(upTo: revision) }
  }

  /// The pattern of the cache's keys, in which only the end is not literal.
  var pattern: String {
    // Scalar by scalar: a character may be one of these with an accent.
    var pattern = String.UnicodeScalarView()
    for scalar in prefix.unicodeScalars {
      if "*?[]\\".unicodeScalars.contains(scalar) { pattern.append("\\") }
      pattern.append(scalar)
    }
    return String(pattern) + "*"
  }
}

/// A removal, step by step.
private final class KeyRemoval: Sendable {
  let cache: RedisCache
  let predicate: KeyPredicate<String>?
  let revision: Revision
  let end: @Sendable (Result<Void, RedisError>) -> Void

  init(
    cache: RedisCache, predicate: KeyPredicate<String>?, revision: Revision,
    end: @escaping @Sendable (Result<Void, RedisError>) -> Void
  ) {
    self.cache = cache
    self.predicate = predicate
    self.revision = revision
    self.end = end
  }

  /// The number of keys that the server looks at in one step.
  private static let stepSize: Int64 = 512

  /// The number of times that a lost connection lets the scan begin again.
  private static let restarts = 3

  /// Asks for the next keys.
  ///
  /// - Parameters:
  ///   - cursor: The server's mark of the next keys; `0` for the first.
  ///   - generation: The number of the connection from which the mark is.
  ///   - restarts: The number of times that the scan may begin again.
  func scan(from cursor: String, of generation: Int? = nil, restarts: Int = restarts) {
    // Any connection: the server's answer may be older than a write on another one, but what is
    // removed is decided on the connection of each key.
    let connection = cache.redis.loop.connections[0]
    // The cursor may mean nothing to the server of another connection. This is the thread that
    // begins and ends connections, so it stays the same until the command is sent.
    if cursor != "0", generation != connection.generation {
      return restarts > 0
        ? scan(from: "0", restarts: restarts - 1) : end(.failure(.connectionLost))
    }
    let request = RedisRequest.command(
      "SCAN", .text(cursor), "MATCH", .text(cache.pattern), "COUNT", .number(Self.stepSize),
      isRepeatable: cursor == "0")
    connection.submit(request) { result in
      switch result {
      case .failure(.connectionLost) where cursor != "0" && restarts > 0:
        self.scan(from: "0", restarts: restarts - 1)
      case .failure(let error): self.end(.failure(error))
      case .success(let reply): self.remove(reply, of: connection.generation, restarts)
      }
    }
  }

  private func remove(_ reply: RESPValue, of generation: Int?, _ restarts: Int) {
    guard case .array(let parts) = reply, parts.count == 2, let cursor = parts[0].text,
      case .array(let found) = parts[1]
    else { return end(.failure(.malformedReply("the keys of a scan"))) }
    let keys = found.compactMap { cache.key(of: $0) }.filter {
      predicate?.isSatisfied(by: $0) ?? true
    }
    let byConnection = Dictionary(grouping: keys) { cache.redis.connection(of: $0).number }
    let step = CombinedReplies(of: byConnection.count) { result in
      if case .failure = result { return self.end(result) }
      if cursor == "0" { return self.end(.success(())) }
      self.scan(from: cursor, of: generation, restarts: restarts)
    }
    for (connection, keys) in byConnection {
      remove(keys, on: cache.redis.loop.connections[connection], step)
    }
  }

  /// Removes the keys that were not written after the removal.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - connection: Their connection.
  ///   - step: Receives the answer.
  ///   - isAgain: Whether all writes that were under way have been answered, so that those that have
  ///     stored nothing do not count any more.
  private func remove(
    _ keys: [String], on connection: RedisConnection, _ step: CombinedReplies, isAgain: Bool = false
  ) {
    var (old, written): ([String], [String]) = ([], [])
    let isSent = connection.submit({ step.add($0.map { _ in () }) }) { [cache, revision] orders in
      let order = orders[cache.number]
      (old, written) = ([], [])
      for key in keys {
        if order?.lastWrite(of: key) ?? .none <= revision {
          old.append(key)
        } else {
          written.append(key)
        }
      }
      if old.isEmpty { return nil }
      let arguments = old.map { RedisArgument.key(RedisKey(prefix: cache.prefix, key: $0)) }
      return .command(["UNLINK"] + arguments)
    }
    // Memory that follows may have been filled since the removal began.
    for key in old { cache.changed(key) }
    if !written.isEmpty, !isAgain, step.expectAnother() {
      connection.submit(.command("PING")) { [written] result in
        if case .failure(let error) = result { return step.add(.failure(error)) }
        self.remove(written, on: connection, step, isAgain: true)
      }
    }
    if !isSent { step.add(.success(())) }
  }
}

extension RedisCache {
  /// Returns the cache's key of a key on the server; nil if it is not one of its keys.
  func key(of reply: RESPValue) -> String? {
    reply.text.flatMap { tracked.key(of: $0) }
  }
}
