import Foundation
import MillpondCore
import MillpondSignals
import Synchronization

/// The caches of a client, and what follows their changes.
///
/// A key's invalidations count on its own connection only, where they arrive in the order in which
/// the server carried out the commands; copies on other connections are ignored. The connections
/// call this on their thread, so nothing here overtakes an answer of the same connection.
final class RedisTracker: Sendable {
  private let tracking: RedisTracking
  private let state: Locked<State>

  /// Whether every connection tracks every prefix, so that nothing is changed without a notice.
  private let isComplete = Atomic(false)

  fileprivate struct State: Sendable {
    var caches: [TrackedCache] = []
    var version = 0
    var isTracking: [Bool]
  }

  /// A cache: the keys with a prefix.
  fileprivate struct TrackedCache: Sendable {
    let number: Int
    let prefix: String
    let removals = RedisRemovals()
    var followers = Registry<RedisFollower>()

    /// The numbers of the caches whose prefixes begin with this one, or begin this one.
    var overlapping: [Int]
  }

  init(_ tracking: RedisTracking, connections: Int) {
    self.tracking = tracking
    state = Locked(State(isTracking: Array(repeating: false, count: connections)))
  }

  /// Whether changes by other processes are reported at present.
  var isInForce: Bool { isComplete.load(ordering: .acquiring) }

  /// Whether the server tracks the keys that a connection has read.
  var isByKey: Bool { tracking == .byKey }

  /// The number of changes of the prefixes.
  var version: Int { state.withLock { $0.version } }

  // MARK: Caches

  /// Adds a cache; caches with the same prefix, byte by byte, share their number.
  ///
  /// - Returns: The number, and whether the server has to track another prefix.
  func register(_ prefix: String) -> (number: Int, isNew: Bool) {
    let (number, cleared) = state.withLock { state -> (Int, [RedisFollower]?) in
      if let known = state.caches.first(where: { $0.prefix.utf8.elementsEqual(prefix.utf8) }) {
        return (known.number, nil)
      }
      let number = state.caches.count
      state.add(prefix)
      guard tracking == .byPrefix else { return (number, nil) }
      state.version += 1
      isComplete.store(false, ordering: .releasing)
      state.isTracking = state.isTracking.map { _ in false }
      return (number, state.followers)
    }
    for follower in cleared ?? [] { follower.cleared(.next()) }
    return (number, cleared != nil)
  }

  /// Returns the removals of a cache.
  func removals(of cache: Int) -> RedisRemovals { state.withLock { $0.caches[cache].removals } }

  /// Calls a follower for the changes in a cache, until the handle is disposed of.
  func follow(_ cache: Int, _ follower: RedisFollower) -> Disposable {
    let number = state.withLock { $0.caches[cache].followers.add(follower) }
    return Disposable { [state] in
      state.discard { $0.caches[cache].followers.remove(number) }
    }
  }

  /// Whether anything follows, which needs connections also while there are no commands.
  var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }

  /// Returns the followers of a cache.
  func followers(of cache: Int) -> [RedisFollower] {
    state.withLock { Array($0.caches[cache].followers.elements) }
  }

  // MARK: Changes of this client, which the server does not report to it

  /// Returns the keys by which other caches have a cache's key, on the same connection.
  ///
  /// The server reports the change to the other connections.
  func others(with key: String, of cache: Int) -> [(cache: Int, key: String)] {
    let (own, others) = state.withLock { $0.concerned(by: cache) }
    if others.isEmpty { return [] }
    let serverKey = own.prefix + key
    let connection = RedisConnection.number(of: key, among: connectionCount)
    return others.compactMap { other in
      guard let key = other.key(of: serverKey),
        RedisConnection.number(of: key, among: connectionCount) == connection
      else { return nil }
      return (other.number, key)
    }
  }

  /// Acts on a change of a key by a cache of this client.
  ///
  /// Call it after the command has been submitted: a value that was read before the command is not
  /// kept, and a get that is submitted now reads what the command leaves.
  ///
  /// - Parameters:
  ///   - key: The cache's key.
  ///   - cache: The number of the cache, whose own order has admitted the change.
  ///   - revision: The revision of the change, for what follows that cache. The memory above the
  ///     change sets its value afterwards, with the same revision. For caches of other prefixes it
  ///     is a change that is made now.
  ///   - connections: The connections of the client.
  func changedHere(
    _ key: String, by cache: Int, _ revision: Revision, _ connections: [RedisConnection]
  ) {
    let (own, others) = state.withLock { $0.concerned(by: cache) }
    for follower in own.followers.elements { follower.changed(key, revision) }
    if others.isEmpty { return }
    let serverKey = own.prefix + key
    for other in others {
      guard let key = other.key(of: serverKey) else { continue }
      changed(
        key, of: other,
        on: connections[RedisConnection.number(of: key, among: connections.count)])
    }
  }

  /// Acts on a removal of all keys, or of those that satisfy a predicate, by a cache of this
  /// client, before the server is asked for them.
  ///
  /// Memory may have values that the server does not have, so it is not enough that it forgets the
  /// keys as they are removed.
  ///
  /// - Parameters:
  ///   - cache: The number of the cache, whose own order has admitted the removal.
  ///   - revision: The revision of the removal, for what follows that cache.
  ///   - connections: The connections of the client.
  func clearedHere(by cache: Int, _ revision: Revision, _ connections: [RedisConnection]) {
    let (own, others) = state.withLock { $0.concerned(by: cache) }
    for follower in own.followers.elements { follower.cleared(revision) }
    for other in others {
      for connection in connections {
        connection.withState { $0.orders[other.number]?.refuseAllFills() }
      }
      for follower in other.followers.elements { follower.cleared(.next()) }
    }
  }

  /// Returns the commands that begin to track, and their version.
  func requests() -> (requests: [RedisRequest], version: Int) {
    let (prefixes, version) = state.withLock { ($0.prefixes, $0.version) }
    switch tracking {
    case .off: return ([], version)
    case .byKey: return ([.command("CLIENT", "TRACKING", "ON", "NOLOOP")], version)
    case .byPrefix:
      if prefixes.isEmpty { return ([], version) }
      var arguments: [RedisArgument] = ["CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP"]
      // Without a prefix the server reports all keys.
      for prefix in prefixes where prefix != "" { arguments += ["PREFIX", .text(prefix)] }
      return ([.command(arguments)], version)
    }
  }

  // MARK: Connections

  /// Notes that the server reports the changes of a connection's keys from now on.
  ///
  /// Values that were fetched before may have changed unnoticed, so they are not stored anywhere.
  func began(on connection: RedisConnection, _ version: Int) {
    if tracking == .off { return }
    connection.withState { state in
      for number in state.orders.keys { state.orders[number]?.refuseAllFills() }
    }
    clearAll()
    state.withLock { state in
      guard version == state.version else { return }
      state.isTracking[connection.number] = true
      if state.isTracking.allSatisfy({ $0 }) { isComplete.store(true, ordering: .releasing) }
    }
  }

  /// Notes that changes of a connection's keys are not reported any more, and clears what follows
  /// them.
  func ended(on connection: Int) {
    let wasTracking = state.withLock { state in
      isComplete.store(false, ordering: .releasing)
      return exchange(&state.isTracking[connection], with: false)
    }
    if wasTracking { clearAll() }
  }

  private func clearAll() {
    for follower in state.withLock({ $0.followers }) { follower.cleared(.next()) }
  }

  /// Acts on a message of the server.
  func received(_ elements: [RESPValue], on connection: RedisConnection) {
    guard elements.count >= 2, elements[0].text == "invalidate" else { return }
    guard case .array(let keys) = elements[1] else {
      // Everything was removed.
      connection.withState { state in
        for number in state.orders.keys { state.orders[number]?.refuseAllFills() }
      }
      return clearAll()
    }
    let caches = state.withLock { $0.caches }
    // Keys that are not text are of no cache.
    for key in keys.lazy.compactMap(\.text) {
      for cache in caches {
        guard let key = cache.key(of: key),
          RedisConnection.number(of: key, among: connectionCount) == connection.number
        else { continue }
        changed(key, of: cache, on: connection)
      }
    }
  }

  private func changed(_ key: String, of cache: TrackedCache, on connection: RedisConnection) {
    connection.withState { $0.orders[cache.number]?.refuseFills(of: key) }
    for follower in cache.followers.elements { follower.changed(key, .next()) }
  }

  private var connectionCount: Int { state.withLock { $0.isTracking.count } }
}

extension RedisTracker.State {
  /// The followers of all caches.
  var followers: [RedisFollower] { caches.flatMap { $0.followers.elements } }

  /// Adds the cache of a prefix that is not known yet.
  fileprivate mutating func add(_ prefix: String) {
    let number = caches.count
    let overlapping = caches.indices.filter { place in
      let other = caches[place].prefix.utf8
      return other.starts(with: prefix.utf8) || prefix.utf8.starts(with: other)
    }
    for place in overlapping { caches[place].overlapping.append(number) }
    caches.append(
      RedisTracker.TrackedCache(number: number, prefix: prefix, overlapping: overlapping))
  }

  /// Returns a cache, and the others that may have the same keys on the server.
  fileprivate func concerned(
    by cache: Int
  ) -> (own: RedisTracker.TrackedCache, others: [RedisTracker.TrackedCache]) {
    (caches[cache], caches[cache].overlapping.map { caches[$0] })
  }

  /// The prefixes without those that begin with another one, which the server refuses.
  fileprivate var prefixes: [String] {
    let all = caches.map(\.prefix)
    return all.filter { prefix in
      !all.contains { $0 != prefix && prefix.utf8.starts(with: $0.utf8) }
    }
  }
}

extension RedisTracker.TrackedCache {
  /// Returns the cache's key of a key on the server; nil if it is not one of its keys.
  fileprivate func key(of serverKey: String) -> String? {
    guard serverKey.utf8.starts(with: prefix.utf8) else { return nil }
    return String(serverKey.utf8.dropFirst(prefix.utf8.count)) ?? ""
  }
}

/// The functions to call when a key of a cache, or possibly any, was changed.
struct RedisFollower: Sendable {
  /// Receives a key without its prefix, and the revision of the change in this process.
  let changed: @Sendable (String, Revision) -> Void

  /// Receives the revision up to which nothing is known to be current.
  let cleared: @Sendable (Revision) -> Void
}

extension RedisConnection {
  /// Returns the number of the connection of a key, which is the same in all processes of this
  /// program.
  static func number(of key: String, among count: Int) -> Int {
    if count == 1 { return 0 }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int((hash ^ (hash >> 32)) % UInt64(count))
  }
}
