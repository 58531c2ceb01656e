import MillpondCore
import MillpondSignals

/// The prefixes of a client's caches, and what is known of the changes of their keys.
///
/// A key's invalidations count on its own connection only, where they arrive in the order in which
/// the server carried out the commands; copies on other connections are ignored. The connections
/// call this on their thread, so nothing here overtakes an answer of the same connection.
final class RedisTracker: Sendable {
  let tracking: RedisTracking
  private let connections: [RedisConnection]
  private let state: Locked<State>
  let exchanges = Locked(DatabaseExchanges())

  fileprivate struct State: Sendable {
    var prefixes: [(prefix: TrackedPrefix, uses: Int)] = []
    var lastNumber = 0

    /// The number of times that the server had to be told of another prefix.
    var version = 0

    /// The versions of which each server was told last, and those that it has confirmed; nil while it
    /// reports nothing.
    var told: [Int]
    var confirmed: [Int?]

    /// Whether each server has keys.
    var isUsed: [Bool]
  }

  init(_ tracking: RedisTracking, _ connections: [RedisConnection]) {
    self.tracking = tracking
    self.connections = connections
    state = Locked(
      State(
        told: connections.map { _ in 0 }, confirmed: connections.map { _ in nil },
        isUsed: connections.map { _ in true }))
  }

  /// Whether changes by other processes are reported at present, for all prefixes.
  var isInForce: Bool { state.withLock { $0.isConfirmed($0.version) } }

  /// Whether the server tracks the keys that a connection has read.
  var isByKey: Bool { tracking == .byKey }

  /// The version of the prefixes.
  var version: Int { state.withLock { $0.version } }

  // MARK: Prefixes

  /// Begins to use a prefix; equal prefixes, byte by byte, are one.
  func use(_ text: String) -> PrefixUse {
    let prefix = state.withLock { state in
      let place = state.place(of: text) ?? state.addPrefix(text, tracking)
      state.prefixes[place].uses += 1
      return state.prefixes[place].prefix
    }
    // Before the first get: reports refuse its fill.
    for connection in connections {
      connection.withState { state in
        state.orders[prefix.number] = state.orders[prefix.number] ?? WriteOrder()
      }
    }
    return PrefixUse(prefix) { self.endUse(of: $0) }
  }

  /// Ends a use, and forgets a prefix that has no other.
  ///
  /// The server goes on to report its changes, which are ignored, until the client tracks anew.
  private func endUse(of prefix: TrackedPrefix) {
    let isOver = state.withLock { state in
      guard let place = state.place(of: prefix.text) else { return false }
      state.prefixes[place].uses -= 1
      let isOver = state.prefixes[place].uses == 0
      if isOver { state.prefixes.remove(at: place) }
      return isOver
    }
    guard isOver else { return }
    for connection in connections {
      let order = connection.withState { $0.orders.removeValue(forKey: prefix.number) }
      withExtendedLifetime(order) {}  // released here, not under the lock
    }
  }

  /// Whether anything follows, which needs connections also while there are no commands.
  var isFollowed: Bool { all.contains { $0.isFollowed } }

  var all: [TrackedPrefix] { state.withLock { $0.prefixes.map(\.prefix) } }

  func connection(of key: String) -> RedisConnection {
    connections[RedisConnection.number(of: key, among: connections.count)]
  }

  // MARK: Changes of this client, which the server does not report to it

  /// Returns the keys by which other caches have a cache's key.
  func others(with key: String, of own: TrackedPrefix) -> [(prefix: TrackedPrefix, key: String)] {
    if state.withLock({ $0.prefixes.count == 1 }) { return [] }
    let serverKey = own.text + key
    return all.filter { $0 !== own }.compactMap { other in
      other.key(of: serverKey).map { (other, $0) }
    }
  }

  /// Acts on a change of a key by a cache of this client.
  ///
  /// Call it after the command has been submitted: a value that was read before the command is not
  /// kept, and a get that is submitted now reads what the command leaves.
  ///
  /// - Parameters:
  ///   - key: The cache's key.
  ///   - own: The prefix of the cache, whose own order has admitted the change.
  ///   - place: The place of the change, for what follows that cache.
  func changedHere(_ key: String, of own: TrackedPrefix, _ place: Revision) {
    own.changed(key, place)
    for (other, key) in others(with: key, of: own) {
      changed(key, of: other, on: connection(of: key))
    }
  }

  /// Acts on a removal of all keys, or of those that satisfy a predicate, by a cache of this
  /// client, before the server is asked for them.
  ///
  /// Memory may have values that the server does not have, so it is not enough that it forgets the
  /// keys as they are removed.
  ///
  /// - Parameter own: The prefix of the cache, whose own order has admitted the removal.
  func clearedHere(_ own: TrackedPrefix) {
    own.cleared()
    for other in all where other !== own && other.overlaps(own) { clear([other]) }
  }

  // MARK: Connections

  /// Whether the server reports the changes of a prefix on a connection, or is not asked to.
  func isReporting(_ prefix: TrackedPrefix, to route: RedisRoute) -> Bool {
    if tracking == .off { return true }
    let (connection, slot) = (route.connection, route.slot)
    let number = connection.number + connection.withState { $0.place(of: slot) }
    return state.withLock { $0.confirmed[number] ?? -1 >= prefix.version }
  }

  /// Notes which servers of a cluster there are, and whether each has keys.
  func setNodes(_ isUsed: [Bool]) {
    let cleared = state.withLock { state -> [TrackedPrefix] in
      if state.isUsed == isUsed { return [] }
      state.isUsed = isUsed
      while state.told.count < isUsed.count {
        state.told.append(0)
        state.confirmed.append(nil)
      }
      return state.updateForce(tracking)
    }
    clear(cleared)
  }

  /// Notes that the server is told of the present prefixes, and returns them and their version.
  func tell(_ connection: Int) -> (prefixes: [TrackedPrefix], version: Int) {
    state.withLock { state in
      state.told[connection] = state.version
      return (state.prefixes.map(\.prefix), state.version)
    }
  }

  /// Notes that the server reports the changes of the keys of a connection, for all prefixes up to
  /// a version, unless it has been told of others meanwhile.
  ///
  /// Values of the newer prefixes that were fetched before may have changed unnoticed, so they are
  /// not stored anywhere.
  func began(on node: RedisNode, _ version: Int) {
    let (told, former) = state.withLock { ($0.told[node.number], $0.confirmed[node.number]) }
    if tracking == .off || told != version { return }
    let newer = all.filter { $0.version > former ?? -1 && $0.version <= version }
    node.connection.withState { state in
      for prefix in newer { state.orders[prefix.number]?.refuseAllFills() }
    }
    for prefix in newer { prefix.cleared() }
    state.withLock { state in
      state.confirmed[node.number] = version
      _ = state.updateForce(tracking)
    }
  }

  /// Notes that the changes of a server's keys are not reported any more, and clears what follows
  /// them.
  func ended(on node: RedisNode) {
    let prefixes = state.withLock { state -> [TrackedPrefix] in
      let wasConfirmed = exchange(&state.confirmed[node.number], with: nil) != nil
      // A server without keys reports nothing that matters.
      guard state.isUsed[node.number] else { return [] }
      for (prefix, _) in state.prefixes { prefix.setInForce(false) }
      return wasConfirmed ? state.prefixes.map(\.prefix) : []
    }
    clear(prefixes, on: node.connection)
  }

  func changed(_ key: String, of prefix: TrackedPrefix, on connection: RedisConnection) {
    connection.withState { $0.orders[prefix.number]?.refuseFills(of: key) }
    prefix.changed(key)
  }

  /// Refuses the fills of prefixes, and clears what follows them.
  func clear(_ prefixes: [TrackedPrefix], on connection: RedisConnection? = nil) {
    for connection in connection.map({ [$0] }) ?? connections {
      connection.withState { state in
        for prefix in prefixes { state.orders[prefix.number]?.refuseAllFills() }
      }
    }
    for prefix in prefixes { prefix.cleared() }
  }
}

extension RedisTracker.State {
  /// Whether all servers track the prefixes up to a version.
  func isConfirmed(_ version: Int) -> Bool {
    zip(confirmed, isUsed).allSatisfy { $0 ?? -1 >= version || !$1 }
  }

  /// Notes for each prefix whether all servers track it; returns those that they do not any more.
  fileprivate func updateForce(_ tracking: RedisTracking) -> [TrackedPrefix] {
    prefixes.map(\.prefix).filter { prefix in
      let isInForce = tracking != .off && isConfirmed(prefix.version)
      defer { prefix.setInForce(isInForce) }
      return prefix.isInForce && !isInForce
    }
  }

  /// The place of a prefix, byte by byte.
  fileprivate func place(of text: String) -> Int? {
    prefixes.firstIndex { $0.prefix.text.utf8.elementsEqual(text.utf8) }
  }

  /// Adds a prefix of which the server has to be told, unless it reports a beginning of it.
  fileprivate mutating func addPrefix(_ text: String, _ tracking: RedisTracking) -> Int {
    lastNumber += 1
    let covering = prefixes.filter { text.begins(with: $0.prefix.text) }.map(\.prefix.version).min()
    if tracking == .byKey || tracking == .byPrefix && covering == nil { version += 1 }
    let prefix = TrackedPrefix(
      number: lastNumber, text: text, version: tracking == .byKey ? version : covering ?? version)
    prefix.setInForce(tracking != .off && isConfirmed(prefix.version))
    prefixes.append((prefix, 0))
    return prefixes.count - 1
  }
}

extension TrackedPrefix {
  fileprivate func overlaps(_ other: TrackedPrefix) -> Bool {
    text.begins(with: other.text) || other.text.begins(with: text)
  }
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
