public import MillpondCore
public import MillpondSignals

extension Cache {
  /// Forgets the keys that other processes change in `shared`, as soon as the server reports it.
  ///
  ///     let users = MemoryCache<User.ID, User>(countLimit: 10_000)
  ///       .following(shared) { User.ID($0.dropFirst(5)) }
  ///       .layered(over: shared.mapValues(.json(User.self)).mapKeys { "user/\($0)" })
  ///
  /// Apply it to the layer above `shared`. It keeps values only while the server reports changes: a
  /// lost connection empties it before any get or write fails or is answered, and until the client
  /// tracks again on all its connections, gets pass through to the layers below. A value that was
  /// read, or fetched, before a report of its key arrived is not stored afterwards, and no later get
  /// joins that one (see `FillToken` and `reusingInFlight()`).
  ///
  /// A value that is out of date stays at most until the report arrives: a fraction of a round
  /// trip. If the network fails without a sign, that is noticed after the client's heartbeat and
  /// deadline; an exchange of databases (`SWAPDB`) after the same time. Writes through `shared` by other compositions of this process are followed too,
  /// and those through caches of the same client that share keys with it, because one's prefix
  /// begins with the other's. A fill by another composition of this process is not.
  ///
  /// **Why order is kept.** A key has one connection, on which the server sends the report of a
  /// change after the answers to earlier reads, and before those to later ones. One thread acts on
  /// both in that order. A value of an earlier read is stored, and removed again by the report; if
  /// it is still on its way, in a codec for example, its fill began before the removal, and is
  /// refused. A report on another connection of the client is ignored, so it can't overtake
  /// anything. A write of this process has its place in memory where its command was submitted on
  /// that connection, not where it was called: a report that has arrived by then is earlier. A set
  /// that the server has refused, or not answered, is forgotten.
  ///
  /// - Parameters:
  ///   - shared: The cache on the server.
  ///   - key: Returns this cache's key for one of `shared`, without its prefix; nil if it has none.
  ///     Runs on the client's thread. A key for which it throws clears everything. Keys that are
  ///     equal here must have one key in `shared`.
  /// - Returns: The cache; copies follow together.
  public func following(
    _ shared: RedisCache, by key: @escaping @Sendable (String) throws -> Key?
  ) -> Following<Self> {
    Following(base: self, shared: shared, key: key)
  }
}

extension Cache where Key == String {
  /// Forgets the keys that other processes change in `shared`, as soon as the server reports it.
  ///
  /// The same as ``following(_:by:)`` for equal keys.
  ///
  /// - Parameter shared: The cache on the server.
  public func following(_ shared: RedisCache) -> Following<Self> {
    following(shared) { $0 }
  }
}

/// A cache that forgets what other processes change on a server.
public struct Following<Base: Cache>: Cache, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  private let use: PrefixUse

  /// Follows until all copies are released.
  private let following: ScopedDisposable

  init(base: Base, shared: RedisCache, key: @escaping @Sendable (String) throws -> Base.Key?) {
    self.base = base
    let follower = RedisFollower(
      changed: { changed, revision in
        do {
          if let key = try key(changed) { _ = base.apply(.remove(key, revision)) }
        } catch {
          _ = base.apply(.removeAll(revision))
        }
      },
      cleared: { _ = base.apply(.removeAll($0)) })
    use = shared.use
    following = use.prefix.follow(follower).scoped()
    // Changes of the values that are there already were not followed.
    _ = base.apply(.removeAll(.next()))
    shared.redis.loop.start()
    shared.redis.loop.wakeUp()
  }

  /// Asks the base, which is empty while nothing is reported.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    note(lookup)
    return base.answers(key, lookup)
  }

  /// Lets no later get join a flight that has its answer from memory as it was before a report.
  @usableFromInline
  func note(_ lookup: Lookup) {
    let (prefix, count) = (use.prefix, use.prefix.changeCount)
    lookup.flight?.willAskMemory { prefix.changeCount != count }
  }

  /// Returns the base's immediate value.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup)
  }

  /// Writes to the base; while nothing is reported, a set removes the key, and a fill is refused.
  ///
  /// A change that arrives when the connection is lost is older than the removal of everything that
  /// follows.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let prefix = use.prefix
    switch change {
    case .set(let key, let stamped, let revision):
      // A report that has arrived in between is later, whenever the set was called.
      if prefix.isInForce, let place = prefix.places.now(revision, Lookup()) {
        return base.apply(.set(key, stamped, revision.isOfCopy ? place.ofCopy : place))
      }
      return base.apply(.remove(key, .next()))
    case .remove(let key, _): return base.apply(.remove(key, .next()))
    case .removeAll: return base.apply(.removeAll(.next()))
    case .removeMatching(let predicate, _):
      return base.apply(.removeMatching(predicate, .next()))
    case .fill: return prefix.isInForce ? base.apply(change) : .empty
    }
  }

  /// The base, and whether it follows at present.
  public func topology(for key: Key?) -> Topology {
    let title = use.prefix.isInForce ? "following" : "not following at present"
    return Topology(.wrapper, title, of: base.topology(for: key))
  }
}
