public import Foundation
public import MillpondCore
public import MillpondSignals

extension RedisCache {
  /// A store of which nothing is known without a round trip; its name tells whether it tracks.
  ///
  /// A flush waits until the server has carried out all earlier writes; whether they outlive the
  /// server, its own settings decide.
  public func topology(for key: String?) -> Topology {
    Topology(.store, "RedisCache", flush: { [redis] _ in redis.flush() })
      .reporting { [redis] in redis.report }
  }

  /// Returns whether there is a value for `key`.
  public func contains(_ key: String) -> Signal<Bool> {
    let key = key.keyText
    let command: RedisArgument = form == .plain ? "EXISTS" : "STRLEN"
    let request = RedisRequest.command(command, .key(serverKey(key)), isRepeatable: true)
    let least = form == .plain ? 1 : RedisRecord.footerSize
    return .deferred {
      if self.isBeingRemoved(key) { return .just(false) }
      return self.asking(self.route(of: key), request) { reply in
        if case .integer(let count) = reply { count >= least } else { false }
      }
    }
  }

  /// Stores a value if there is none, in one step of the server.
  ///
  /// The write counts for layers above as any other, whether it stores or not: they forget the key.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - timeToLive: The time to live of the value; nil for that of the cache.
  /// - Returns: Whether the value was stored. It is sent at once; disposing of it cancels nothing.
  @discardableResult
  public func setIfAbsent(
    _ value: Data, for key: String, timeToLive: TimeToLive? = nil
  ) -> Signal<Bool> {
    redis.loop.start()
    let key = key.keyText
    let stamped = Stamped(value, timeToLive: timeToLive)
    guard let stored = stored(stamped, isFill: false) else { return .just(false) }
    let subject = Promise<Bool>()
    let request = { $1 ? stored.setAnew($0) : stored.setIfAbsent($0) }
    let place = write(key, .next(), request) { result in
      subject.keep(by: .of(result.map { $0 != .null }, from: self.redis))
    }
    return place == nil ? .just(false) : subject.outcome
  }

  /// Returns the values of several keys, with a command for at most 512 keys of a connection.
  ///
  /// Like gets of any age; keys without a value are not in the result.
  public func values(of keys: [String]) -> Signal<[String: Data]> {
    .deferred { self.storedValues(of: keys) }
  }

  private func storedValues(of keys: [String]) -> Signal<[String: Data]> {
    let present = Set(keys.lazy.map(\.keyText)).filter { !isBeingRemoved($0) }
    let parts = groups(present, of: Self.keysOfCommand).map { values(of: $0, by: $1) }
    return Signal.merge(parts).reduce([:]) { all, part in all.merging(part) { first, _ in first } }
  }

  /// The most keys of a command, since the server does nothing else meanwhile.
  private static let keysOfCommand = 512

  /// Divides keys into those that one command can name: those of a connection, or in a cluster,
  /// whose slots may move, each for itself.
  func groups(_ keys: some Sequence<String>, of size: Int) -> [(keys: [String], route: RedisRoute)]
  {
    if redis.loop.isCluster { return keys.map { ([$0], route(of: $0)) } }
    return Dictionary(grouping: keys) { route(of: $0).connection.number }.values.flatMap { keys in
      stride(from: 0, to: keys.count, by: size).map { start in
        (Array(keys[start..<min(keys.count, start + size)]), route(of: keys[start]))
      }
    }
  }

  private func values(of keys: [String], by route: RedisRoute) -> Signal<[String: Data]> {
    let arguments = keys.map { RedisArgument.key(serverKey($0)) }
    let request = RedisRequest.command(["MGET"] + arguments, isRepeatable: true)
    return asking(route, request) { [form] reply in
      guard case .array(let replies) = reply else { return [:] }
      var values: [String: Data] = [:]
      for (key, reply) in zip(keys, replies) {
        if case .bytes(let data) = reply { values[key] = form.stamped(data)?.value }
      }
      return values
    }
  }

  /// A source that gets many keys with one command, for the layer below a memory cache.
  ///
  ///     let users = memory.following(shared).layered(over: shared.bulk.batching(window: .zero, max: 500))
  public var bulk: BulkSource<String, Data> { BulkSource { self.values(of: $0) } }

  /// Whether a removal that still runs concerns a key, which was not written after it.
  func isBeingRemoved(_ key: String) -> Bool {
    let removed = removals.concerning(key)
    if removed.isEmpty { return false }
    return route(of: key).connection.withState { [number] state in
      removed.haveRemoved(state.orders.lastWrite(of: key, number))
    }
  }

  private func asking<Value: Sendable>(
    _ route: RedisRoute, _ request: RedisRequest,
    _ value: @escaping @Sendable (RESPValue) -> Value
  ) -> Signal<Value> {
    Signal { [redis] observer, lifetime in
      redis.loop.start()
      route.submit(request) { result in
        if lifetime.isEnded { return }
        switch result {
        case .failure(let error): observer.failed(CacheError(error, of: redis))
        case .success(let reply):
          observer.next(value(reply))
          if !lifetime.isEnded { observer.completed() }
        }
      }
    }
  }
}
