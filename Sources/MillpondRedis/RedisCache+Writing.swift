import Foundation
import MillpondCore
import MillpondSignals

/// Sets and removals of single keys, and how they and fills are sent.
extension RedisCache {
  func set(_ key: String, _ stamped: Stamped<Data>, _ revision: Revision) -> Signal<Void> {
    guard let stored = stored(stamped, isFill: false) else { return remove(key, revision) }
    let subject = Promise<Void>()
    let request = { $1 ? stored.setAnew($0) : stored.set($0) }
    let place = write(key, revision, request) { result in
      subject.keep(by: .of(result.map { _ in () }, from: self.redis))
    }
    // A later write has overtaken it, and succeeds by then.
    guard let place else { return redis.flush() }
    // The memory above this layer is written next.
    if tracked.isFollowed { tracked.places.set(place, for: revision) }
    return subject.outcome
  }

  /// Sends a write, unless a later one of the key has been sent, and tells what follows.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - revision: The place of the write in the order of all writes.
  ///   - request: Makes the command; told whether an earlier removal of many keys still runs, for
  ///     which the key has nothing.
  ///   - answer: Receives the answer.
  /// - Returns: The place of the write in the order of memory that follows; nil if it was not sent.
  func write(
    _ key: String, _ revision: Revision,
    _ request: (RedisKey, _ isRemoved: Bool) -> RedisRequest, _ answer: @escaping RedisAnswer
  ) -> Revision? {
    let connection = route(of: key).connection
    // The server reports the change to the other connections.
    let others = redis.loop.tracker.others(with: key, of: tracked).filter {
      redis.loop.tracker.connection(of: $0.key) === connection
    }
    var removed: [RedisRemovals.Removal] = []
    var place: Revision?
    let before = Locked((write: Revision.none, removals: [RedisRemovals.Removal]()))
    let answer: RedisAnswer = { [number] result in
      if !result.isStored {
        let before = before.withLock { $0 }
        // So removals that are older do not leave the key alone because of it.
        connection.withState { state in
          state.orders[number]?.takeBack(key, revision, former: before.write)
        }
        if case .failure(let error) = result {
          for removal in before.removals { removal.failure.withLock { $0 = error } }
        }
        // Memory has only what the server has stored.
        self.changed(key)
      }
      answer(result)
    }
    let compare = {
      removed = self.removals.concerning(key).filter { $0.revision < revision }
      return self.removals.all.compare(key, revision) != nil
    }
    _ = send(key, answer, if: compare) { orders in
      let last = orders.lastWrite(of: key, number)
      guard orders[number, default: WriteOrder()].admit(key, revision) else { return nil }
      // In the same step, so that no earlier fill of theirs comes after this write.
      for other in others { orders[other.prefix.number]?.refuseFills(of: other.key) }
      let isRemoved = removed.haveRemoved(last)
      before.withLock { $0 = (last, isRemoved ? removed : []) }
      place = .next()
      return request(serverKey(key), isRemoved)
    }
    tracked.fills.remove(key)
    if let place { changed(key, place) }
    return place
  }

  /// Sends a command that stores or removes, if neither a later removal of many keys nor the order
  /// of the key's connection refuses it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - answer: Receives the answer.
  ///   - takeBack: The command that takes back what it has left, should its answer not arrive in
  ///     time.
  ///   - compare: Compares the key with the removals of many keys; false if one refuses it.
  ///   - make: Returns the command, with the orders of all caches, or nil if they refuse it.
  func send(
    _ key: String, takeBack: RedisRequest? = nil, _ answer: @escaping RedisAnswer,
    if compare: () -> Bool, _ make: (inout [Int: WriteOrder<String>]) -> RedisRequest?
  ) -> Bool {
    while true {
      let begun = removals.begun
      guard compare() else { return false }
      var (isBehind, forgotten) = (false, [[String: Revision]]())
      let isSent = route(of: key).submit(answer, takeBack: takeBack) { orders in
        isBehind = removals.begun != begun
        defer { forgotten = orders[number]?.takeForgotten() ?? [] }
        return isBehind ? nil : make(&orders)
      }
      withExtendedLifetime(forgotten) {}  // released here, not under the lock
      if !isBehind { return isSent }
    }
  }

  /// Tells what follows of a change of this client that has been submitted, or of its failure.
  func changed(_ key: String, _ place: Revision = .next()) {
    redis.loop.tracker.changedHere(key, of: tracked, place)
  }
}

extension [Int: WriteOrder<String>] {
  /// The last write of a key of the cache with a number.
  func lastWrite(of key: String, _ number: Int) -> Revision {
    self[number]?.lastWrite(of: key) ?? .none
  }
}

extension Result<RESPValue, RedisError> {
  /// Whether it is certain that a write was carried out.
  fileprivate var isStored: Bool {
    if case .success(let reply) = self { reply != .null } else { false }
  }
}
