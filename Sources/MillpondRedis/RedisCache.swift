public import Foundation
public import MillpondCore
public import MillpondSignals

/// A cache on a Redis or Valkey server, which processes and machines share.
///
///     let redis = try Redis(.tcp(host: "127.0.0.1"))
///     let shared = RedisCache(redis, prefix: "feed/", timeToLive: .after(.seconds(600)))
///     let users = MemoryCache<String, User>(countLimit: 10_000)
///       .following(shared)
///       .layered(over: shared.mapValues(.json(User.self)).layered(over: api))
///       .reusingInFlight()
///
/// All keys of the cache begin with its prefix; nothing else on the server is read or removed.
/// Equal keys are one, whatever their bytes: behind the prefix a key has its canonical form (NFC).
/// Gets see a write of this process at once; others see it when its outcome succeeds. If a write
/// fails, the server may have carried it out or not. Values are stored with their age, their
/// validator and the end of their life in up to a few dozen bytes behind them, unless the form is
/// ``RedisForm/plain``.
///
/// **Fills.** The answer of a lower layer is stored unless the key was written after the get began,
/// by this process or by another one: the server stores the value if the key still has what the get
/// has seen there, in one round trip. (A fill without such a get asks first.) So nothing that
/// another process has set is replaced, and the answer of a later get of this process replaces that
/// of an older one (in the form ``RedisForm/plain`` it may be dropped). A removal of the key by
/// another process leaves a mark there for a second, a few bytes that are no value, so that nothing
/// is stored over it that was fetched before. After a removal of many keys, and in the form
/// ``RedisForm/plain``, which knows no marks, the value may be stored for the time of a round trip,
/// and is taken back. If the answer does not come, the value is taken back before anything else is
/// sent on the next connection; only if this process ends, or closes the client, before that, may
/// it stay until its life ends. A value that is taken back is removed if the key still has it: the
/// same length, and the same bytes, or the same 128 at both ends of more than 256, which in the
/// form ``RedisForm/stamped`` include times to the millisecond.
///
/// **Memory that follows** (`following(_:)`) has only what the server has: a set value is there
/// once it has been sent, and goes if the server refuses it or does not answer. Removals are
/// reported to other processes also for keys that the server does not have; one by predicate, or of
/// everything, empties their memory.
///
/// **Failures.** A server that is down, slow or full makes gets and writes fail with
/// `CacheError.unavailable(layer:underlying:)` and a ``RedisError``, at the latest at the client's
/// deadline, and layers below answer. After a failed attempt to connect they fail at once with
/// `CacheError.circuitOpen(layer:remaining:underlying:)` until the next one. A server that refuses
/// everything, such as one that is loading its data, is asked each time:
/// `circuitBreaking(afterFailures:for:counting:clock:)` spares it.
///
/// Two caches with the same prefix and client are one. Prefixes that begin with each other work,
/// but writes through one are not ordered with those of the other; memory that follows one forgets
/// what the other writes, and all of it when the other removes all keys or by predicate.
///
/// - Note: Any thread; none is blocked. Values arrive on the client's thread.
/// - Complexity: A round trip for a get, a set or a removal, which share round trips with those
///   submitted meanwhile; O(*n*) in the keys of the whole server for `removeAll` and removals by
///   predicate.
public final class RedisCache: Cache, AnsweringSource {
  /// The client.
  public let redis: Redis

  /// The beginning of all keys on the server.
  public let prefix: String

  let timeToLive: TimeToLive
  let form: RedisForm
  let use: PrefixUse
  var tracked: TrackedPrefix { use.prefix }
  var number: Int { tracked.number }
  var removals: RedisRemovals { tracked.removals }

  /// Creates a cache of the keys with a prefix.
  ///
  /// Returns at once; the client connects with the first get or write.
  ///
  /// - Parameters:
  ///   - redis: The client.
  ///   - prefix: The beginning of all keys on the server, such as `feed/`.
  ///   - timeToLive: The time, counted from its origin, after which the server removes a value.
  ///   - form: The form in which values are stored.
  public init(
    _ redis: Redis, prefix: String, timeToLive: TimeToLive = .forever, form: RedisForm = .stamped
  ) {
    self.redis = redis
    self.prefix = prefix
    self.timeToLive = timeToLive
    self.form = form
    use = redis.loop.tracker.use(prefix)
    redis.loop.wakeUp()
  }

  // MARK: Gets

  /// Returns the value if it is stored and fresh enough, with its age by the calendar.
  public func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Data>> {
    Signal { observer, lifetime in self.ask(key, lookup, observer, lifetime) }
  }

  private func ask(
    _ key: String, _ lookup: Lookup, _ observer: Observer<Answer<Data>>, _ lifetime: Lifetime
  ) {
    let key = key.keyText
    redis.loop.start()
    lookup.flight?.followChanges { tracked.follow(key, $0) }
    // The fill replaces only what the key has before a layer below is asked, whatever it is.
    let isMiss = lookup.freshness == .reload || isBeingRemoved(key)
    let request = isMiss ? StoredValue.fingerprint(of: serverKey(key)) : .get(serverKey(key))
    route(of: key).submit(request) { result in
      if case .failure(.server) = result { self.forgetUntracked(key) }
      if lifetime.isEnded { return }
      switch result {
      case .failure(let error): observer.failed(CacheError(error, of: self.redis))
      case .success(.bytes(let fingerprint)) where isMiss:
        self.tracked.note(key, fingerprint, seenBy: lookup.beginning)
        observer.completed()
      case .success(let reply): self.answer(key, reply, lookup, observer, lifetime)
      }
    }
  }

  /// Lets memory that follows refuse what a layer below answers for a key: a server that has not
  /// read or written it for us does not track it.
  func forgetUntracked(_ key: String) {
    guard redis.loop.tracker.isByKey else { return }
    tracked.changed(key)
  }

  private func answer(
    _ key: String, _ reply: RESPValue, _ lookup: Lookup, _ observer: Observer<Answer<Data>>,
    _ lifetime: Lifetime
  ) {
    if case .bytes(let data) = reply {
      let stamped = form.stamped(data)
      if let stamped, lookup.freshness == .any || lookup.admits(age: stamped.age) {
        observer.next(.value(stamped))
      } else {
        tracked.note(key, StoredValue.fingerprint(of: data), seenBy: lookup.beginning)
        if let stamped { observer.next(.tooOld(age: stamped.age)) }
      }
    } else {
      tracked.note(key, Data(), seenBy: lookup.beginning)
    }
    if !lifetime.isEnded { observer.completed() }
  }

  // MARK: Writing

  /// Stores or removes at once; the outcome succeeds when the server has done so.
  ///
  /// A removal of all keys or by predicate asks the server for its keys step by step, and removes
  /// the cache's ones; keys that this process writes meanwhile stay. Gets of this process miss the others
  /// from the call on. If it fails, some values may be left: remove them again. It fails also if the
  /// connection is lost, or if a later write of one of its keys fails.
  public func apply(_ change: Change<String, Data>) -> Signal<Void> {
    redis.loop.start()
    switch change {
    case .set(let key, let stamped, let revision): return set(key.keyText, stamped, revision)
    case .remove(let key, let revision): return redis.track(remove(key.keyText, revision))
    case .removeAll(let revision): return redis.track(removeAll(nil, revision))
    case .removeMatching(let predicate, let revision):
      return redis.track(removeAll(predicate, revision))
    case .fill(let key, let stamped, let token):
      return redis.track(fill(key.keyText, stamped, token))
    }
  }

  /// The way to the server of a key.
  func route(of key: String) -> RedisRoute { redis.route(of: serverKey(key)) }

  func serverKey(_ key: String) -> RedisKey { RedisKey(prefix: prefix, key: key) }
}
