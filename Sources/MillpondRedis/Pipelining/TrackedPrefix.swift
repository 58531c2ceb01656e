import Foundation
import MillpondCore
import MillpondSignals
import Synchronization

/// A prefix of keys that caches of a client have, and what follows the changes of those keys.
final class TrackedPrefix: Sendable {
  /// The number of the prefix, by which connections keep the order of its writes.
  let number: Int
  let text: String

  /// The version of the prefixes with which the server was told of this one.
  let version: Int

  /// A key that no cache has, whose report says that many keys were removed: of those that the server
  /// does not have, it reports nothing.
  ///
  /// A script sets and removes it, so that also clients which do so in the same turn of the server's
  /// loop are told.
  static let removalKey = "\0removed"

  let removals = RedisRemovals()

  /// The last fill of each key by this client, for the keys that were filled most recently.
  let fills = MemoryCache<String, KnownValue>(countLimit: 1_024, policy: .leastRecentlyUsed)

  /// The content of keys as gets without a value have seen it on the server, by the places of the
  /// gets in the order of writes, until their fills; for more gets than run at a time.
  private let seen = MemoryCache<Revision, SeenKey>(countLimit: 16_384, policy: .leastRecentlyUsed)

  /// The places of the last sets of this client, by their revisions, for memory that follows.
  let places = MemoryCache<Revision, Revision>(countLimit: 256, policy: .leastRecentlyUsed)

  private let followed = Locked(Registry<RedisFollower>())
  private let waiting = Locked<[String: Registry<@Sendable () -> Void>]>([:])
  private let isTracked = AtomicValue(false)

  private let changes = AtomicValue(0)

  init(number: Int, text: String, version: Int) {
    self.number = number
    self.text = text
    self.version = version
  }

  /// Notes the fingerprint of what a get has seen first, for the fill that may follow; a get that no
  /// layer above has begun has no place, and is followed by no fill.
  func note(_ key: String, _ fingerprint: Data, seenBy get: Revision) {
    if get == .none || seen.now(get, Lookup()) != nil { return }
    seen.set(SeenKey(key: key, fingerprint: fingerprint), for: get)
  }

  /// Returns what the get of a fill has seen, once; nil if that is not known.
  func takeSeen(_ key: String, by get: Revision) -> KnownValue? {
    guard let found = seen.now(get, Lookup()), found.key == key else { return nil }
    seen.remove(get)
    return .seen(found.fingerprint)
  }

  /// Whether every connection tracks it at present, so that no key is changed without a notice.
  var isInForce: Bool { isTracked.load(ordering: .acquiring) }

  func setInForce(_ isInForce: Bool) { isTracked.store(isInForce, ordering: .releasing) }

  /// Calls a follower for the changes, until the handle is disposed of.
  func follow(_ follower: RedisFollower) -> Disposable { followed.keep(follower, in: \.self) }

  /// Whether memory follows.
  var isFollowed: Bool { followed.withLock { !$0.elements.isEmpty } }

  /// Calls `act` for each change of a key, until the handle is disposed of.
  func follow(_ key: String, _ act: @escaping @Sendable () -> Void) -> Disposable {
    let number = waiting.withLock { $0[key, default: Registry()].add(act) }
    return Disposable { [waiting] in
      let former = waiting.withLock { waiting in
        let former = waiting[key]?.remove(number)
        if waiting[key]?.elements.isEmpty == true { waiting[key] = nil }
        return former
      }
      withExtendedLifetime(former) {}  // released here, not under the lock
    }
  }

  /// The number of changes, each counted after what follows has forgotten what it concerns.
  var changeCount: Int { changes.load(ordering: .acquiring) }

  /// Tells what follows that a key was changed.
  ///
  /// Whatever the change is, memory forgets the key, the values of gets that have begun are not
  /// stored there, and no later get joins those gets.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - place: The place of the change in the order of memory, which is that of the connection: of
  ///     a command of this client a new revision that was taken when it was submitted, and of
  ///     anything else one that is taken now.
  func changed(_ key: String, _ place: Revision = .next()) {
    for follower in followed.withLock({ Array($0.elements) }) { follower.changed(key, place) }
    changes.add(1, ordering: .acquiringAndReleasing)
    let acts = waiting.withLock { $0[key].map { Array($0.elements) } ?? [] }
    for act in acts { act() }
  }

  /// Tells what follows that any key may have been changed.
  func cleared() {
    let place = Revision.next()
    for follower in followed.withLock({ Array($0.elements) }) { follower.cleared(place) }
    changes.add(1, ordering: .acquiringAndReleasing)
    let acts = waiting.withLock { $0.values.flatMap { Array($0.elements) } }
    for act in acts { act() }
  }

  /// Returns the cache's key of a key on the server; nil if it does not have the prefix.
  func key(of serverKey: String) -> String? {
    guard serverKey.begins(with: text) else { return nil }
    return String(serverKey.utf8.dropFirst(text.utf8.count))
  }
}

/// What a get has seen of a key.
private struct SeenKey: Sendable {
  let key: String
  let fingerprint: Data
}

/// A value that a key was known to have: by a fill of this client, or as a get has seen it.
struct KnownValue: Sendable {
  let order: FillOrder
  let fingerprint: Data

  static func seen(_ fingerprint: Data) -> KnownValue {
    KnownValue(order: FillOrder(get: .none, place: .none), fingerprint: fingerprint)
  }
}

/// The order of fills: that of their gets, and of the values that one get brings.
struct FillOrder: Sendable, Comparable {
  /// The revision of the get's token; none for what was only seen.
  let get: Revision

  /// The moment at which the value arrived.
  let place: Revision

  static func < (one: FillOrder, other: FillOrder) -> Bool {
    (one.get, one.place) < (other.get, other.place)
  }
}

/// The functions to call when a key of a cache, or possibly any, was changed.
struct RedisFollower: Sendable {
  /// Receives a key without its prefix, and the place of the change.
  let changed: @Sendable (String, Revision) -> Void

  /// Receives the place up to which nothing is known to be current.
  let cleared: @Sendable (Revision) -> Void
}

/// The use of a prefix by a cache, by its leases, or by what follows it: without any, nothing of the
/// prefix is kept.
final class PrefixUse: Sendable {
  let prefix: TrackedPrefix
  private let end: @Sendable (TrackedPrefix) -> Void

  init(_ prefix: TrackedPrefix, end: @escaping @Sendable (TrackedPrefix) -> Void) {
    self.prefix = prefix
    self.end = end
  }

  deinit { end(prefix) }
}
