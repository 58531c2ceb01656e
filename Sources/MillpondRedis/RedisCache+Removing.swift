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
    let request = { (key, isRemoved: Bool) in
      if self.form == .plain { return removal.unlink(key) }
      return isRemoved ? removal.setAnew(key) : removal.set(key)
    }
    let place = write(key, revision, request) { result in
      switch result {
      case .success(.integer(0)): self.removeAgain(key, revision, by: KeyMark.report, end)
      case .failure(let error) where error.serverCode == "OOM":
        self.removeAgain(key, revision, by: removal.setAnew, end)
      case .success, .failure: end(result)
      }
    }
    return place == nil ? redis.flush() : subject.outcome
  }

  /// Sends a further command of a removal, unless this process has written the key later.
  private func removeAgain(
    _ key: String, _ revision: Revision, by request: @Sendable (RedisKey) -> RedisRequest,
    _ end: @escaping RedisAnswer
  ) {
    let isSent = redis.connection(of: key).submit(end) { orders in
      orders.lastWrite(of: key, number) > revision ? nil : request(serverKey(key))
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
  func setAnew(_ key: RedisKey) -> RedisRequest {
    .script(
      "redis.call('UNLINK',KEYS[1]) return redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2])", key,
      [.text(text), .number(Self.life)])
  }

  /// Sets and removes the key in one step, which the server reports.
  ///
  /// The key is read too, since the server forgets at a change who has read it.
  static func report(_ key: RedisKey) -> RedisRequest {
    .script(
      """
      redis.call('UNLINK',KEYS[1]) redis.call('SET',KEYS[1],'') redis.call('UNLINK',KEYS[1]) \
      return redis.call('EXISTS',KEYS[1])
      """, key)
  }
}

/// Removals of all keys, or by predicate: steps of `SCAN` and `UNLINK`.
extension RedisCache {
  /// Removes the keys that satisfy the predicate, or all without one.
  func removeAll(_ predicate: KeyPredicate<String>?, _ revision: Revision) -> Signal<Void> {
    let subject = Promise<Void>()
    let (number, begun) = removals.begin(predicate ?? KeyPredicate { _ in true }, revision)
    if predicate == nil { refuseEarlier(revision) }
    tracked.fills.removeAll()
    redis.loop.tracker.clearedHere(tracked)
    let removal = KeyRemoval(cache: self, predicate: predicate, revision: revision) { result in
      // A write that came later may have failed, and left what was to be removed.
      self.redis.afterAllCommands { answered in
        self.removals.end(number)
        let failure = begun.failure.withLock { $0 }
        let outcome = failure.map { .failure($0) } ?? result.flatMap { answered }
        subject.keep(by: .of(outcome, from: self.redis))
      }
    }
    // Before the keys are looked for: what other processes have fetched before, and store until
    // they are told, is found among them.
    let report = KeyMark.report(serverKey(TrackedPrefix.removalKey))
    redis.loop.connections[0].submit(report) { result in
      if case .failure(let error) = result { return removal.end(.failure(error)) }
      // The answers to earlier writes tell whether they have stored something.
      self.redis.afterAllCommands { result in
        if case .failure = result { return removal.end(result) }
        removal.scan()
      }
    }
    return subject.outcome
  }

  /// Lets earlier writes and fills that arrive from now on be refused.
  private func refuseEarlier(_ revision: Revision) {
    for connection in redis.loop.connections {
      let forgotten = connection.withState { state in
        _ = state.orders[number, default: WriteOrder()].admitAll(revision)
        return state.orders[number]?.takeForgotten() ?? []
      }
      withExtendedLifetime(forgotten) {}  // released here, not under the lock
    }
    // Only now, since the orders refuse what these removals refused.
    removals.all.forget(upTo: revision)
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
private struct KeyRemoval: Sendable {
  let cache: RedisCache
  let predicate: KeyPredicate<String>?
  let revision: Revision
  let end: @Sendable (Result<Void, RedisError>) -> Void

  /// The number of keys that the server looks at in one step.
  private static let stepSize: Int64 = 512

  /// Asks for the next keys.
  ///
  /// - Parameters:
  ///   - cursor: The server's mark of the next keys; `0` for the first.
  ///   - generation: The number of the connection from which the mark is.
  func scan(from cursor: String = "0", of generation: Int? = nil) {
    // Any connection: the server's answer may be older than a write on another one, but what is
    // removed is decided on the connection of each key.
    let connection = cache.redis.loop.connections[0]
    // The cursor may mean nothing to the server of another connection. This is the thread that
    // begins and ends connections, so it stays the same until the command is sent.
    if cursor != "0", generation != connection.generation {
      return end(.failure(.connectionLost))
    }
    let request = RedisRequest.command(
      "SCAN", .text(cursor), "MATCH", .text(cache.pattern), "COUNT", .number(Self.stepSize),
      isRepeatable: cursor == "0")
    connection.submit(request) { result in
      switch result {
      case .failure(let error): end(.failure(error))
      case .success(let reply): remove(reply, of: connection.generation)
      }
    }
  }

  private func remove(_ reply: RESPValue, of generation: Int?) {
    guard case .array(let parts) = reply, parts.count == 2, let cursor = parts[0].text,
      case .array(let found) = parts[1]
    else { return end(.failure(.malformedReply("the keys of a scan"))) }
    let keys = found.compactMap { $0.text.flatMap { cache.tracked.key(of: $0) } }.filter {
      predicate?.isSatisfied(by: $0) ?? true
    }
    let byConnection = Dictionary(grouping: keys) { cache.redis.connection(of: $0).number }
    let step = CombinedReplies(of: byConnection.count) { result in
      if case .failure = result { return end(result) }
      if cursor == "0" { return end(.success(())) }
      scan(from: cursor, of: generation)
    }
    for (connection, keys) in byConnection {
      remove(keys, on: cache.redis.loop.connections[connection], step)
    }
  }

  /// Removes the keys that were not written after the removal.
  private func remove(
    _ keys: [String], on connection: RedisConnection, _ step: CombinedReplies
  ) {
    var old: [String] = []
    let isSent = connection.submit({ step.add($0.map { _ in () }) }) { orders in
      old = keys.filter { orders.lastWrite(of: $0, cache.number) <= revision }
      return old.isEmpty
        ? nil : .command(["UNLINK"] + old.map { RedisArgument.key(cache.serverKey($0)) })
    }
    // Memory that follows may have been filled since the removal began.
    for key in old { cache.changed(key) }
    if !isSent { step.add(.success(())) }
  }
}
