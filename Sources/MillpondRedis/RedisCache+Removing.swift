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
    let isSent = route(of: key).submit(end) { orders in
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
    let routes = removalRoutes
    let reports = CombinedReplies(of: routes.count) { result in
      if case .failure = result { return removal.end(result) }
      // The answers to earlier writes tell whether they have stored something.
      self.redis.afterAllCommands { result in
        if case .failure = result { return removal.end(result) }
        removal.begin()
      }
    }
    for (key, route) in routes {
      route.submit(KeyMark.report(key)) { reports.add($0.map { _ in () }) }
    }
    return subject.outcome
  }

  /// The keys whose reports say that many keys were removed: one for each server that may have some,
  /// since only its own reports come in order with its answers.
  private var removalRoutes: [(RedisKey, RedisRoute)] {
    let key = serverKey(TrackedPrefix.removalKey)
    let route = redis.route(of: key)
    guard redis.loop.isCluster else { return [(key, route)] }
    let slots = route.connection.withState { $0.slots }
    var (found, missing) = ([(key, route)], Set(slots))
    if let slot = route.slot, !slots.isEmpty { missing.remove(slots[slot]) }
    // Braces in the prefix let all keys have one slot.
    for number in 0..<ClusterSlot.count * 8 where !missing.isEmpty {
      let key = serverKey("\(TrackedPrefix.removalKey){\(number)}")
      let slot = ClusterSlot.of(key)
      if number > 0, slot == route.slot, slot == found.last?.1.slot { break }
      if missing.remove(slots[slot]) != nil { found.append((key, redis.route(of: key))) }
    }
    return found
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

  /// Looks for the keys on one server after the other, and once more if slots have moved meanwhile.
  func begin() {
    let loop = cache.redis.loop
    let moves = loop.moves
    scan(loop.usedNodes[...]) {
      if moves == loop.moves { end(.success(())) } else { begin() }
    }
  }

  private func scan(_ nodes: ArraySlice<RedisNode>, _ done: @escaping @Sendable () -> Void) {
    guard let node = nodes.first else { return done() }
    scan(node) { scan(nodes.dropFirst(), done) }
  }

  /// Asks for the next keys.
  ///
  /// - Parameters:
  ///   - node: The server: any one of a connection. Its answer may be older than a write on another
  ///     connection, but what is removed is decided on the connection of each key.
  ///   - cursor: The server's mark of the next keys; `0` for the first.
  ///   - generation: The number of the connection from which the mark is.
  ///   - done: Is called when there are no more.
  private func scan(
    _ node: RedisNode, from cursor: String = "0", of generation: Int? = nil,
    _ done: @escaping @Sendable () -> Void
  ) {
    // The cursor may mean nothing to the server of another connection. This is the thread that
    // begins and ends connections, so it stays the same until the command is sent.
    if cursor != "0", generation != node.generation { return end(.failure(.connectionLost)) }
    let request = RedisRequest.command(
      "SCAN", .text(cursor), "MATCH", .text(cache.pattern), "COUNT", .number(Self.stepSize),
      isRepeatable: cursor == "0")
    node.submit(request) { result in
      switch result {
      case .failure(let error): end(.failure(error))
      case .success(let reply):
        let generation = node.generation
        remove(reply) { cursor in
          if cursor == "0" { return done() }
          scan(node, from: cursor, of: generation, done)
        }
      }
    }
  }

  /// Removes the keys of an answer, and goes on with its cursor.
  private func remove(_ reply: RESPValue, _ next: @escaping @Sendable (String) -> Void) {
    guard case .array(let parts) = reply, parts.count == 2, let cursor = parts[0].text,
      case .array(let found) = parts[1]
    else { return end(.failure(.malformedReply("the keys of a scan"))) }
    let keys = found.compactMap { $0.text.flatMap { cache.tracked.key(of: $0) } }.filter {
      predicate?.isSatisfied(by: $0) ?? true
    }
    let groups = cache.groups(keys, of: .max)
    let step = CombinedReplies(of: groups.count) { result in
      if case .failure = result { return end(result) }
      next(cursor)
    }
    for (keys, route) in groups { remove(keys, by: route, step) }
  }

  /// Removes the keys that were not written after the removal.
  private func remove(
    _ keys: [String], by route: RedisRoute, _ step: CombinedReplies
  ) {
    var old: [String] = []
    let isSent = route.submit({ step.add($0.map { _ in () }) }) { orders in
      old = keys.filter { orders.lastWrite(of: $0, cache.number) <= revision }
      return old.isEmpty
        ? nil : .command(["UNLINK"] + old.map { RedisArgument.key(cache.serverKey($0)) })
    }
    // Memory that follows may have been filled since the removal began.
    for key in old { cache.changed(key) }
    if !isSent { step.add(.success(())) }
  }
}
