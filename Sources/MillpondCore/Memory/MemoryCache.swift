public import MillpondSignals
public import Synchronization

/// Keeps values in memory, up to a count or a cost: by default those that are most likely to be asked
/// for again.
///
///     let images = MemoryCache<URL, Image>(
///       costLimit: .mebibytes(64), timeToLive: .after(.seconds(1_800)), cost: \.byteCount)
///
/// A value that is told is there when the call returns, and no limit is ever exceeded. A value that
/// costs more than the limit is not stored, and nothing else is dropped for it; what was kept for its
/// key is. Under the ``EvictionPolicy/adaptive`` policy the same goes for a value that costs more than
/// a quarter of what is kept, if it is asked for less often than all that would have to go for it.
///
/// A value whose time is over is a miss. It takes up room until it is asked for, until others that
/// are stored come past it, four at a time, or until ``removeExpired()``. Time passes by `clock`;
/// where that is the continuous one, in steps of a few milliseconds, and on Linux not while the
/// system sleeps. A clock that is set back expires nothing and makes nothing last longer: for the cache
/// it stands still until the next call.
///
/// - Note: Any thread. From 4,096 values on there are sixteen locks, chosen by the hash of the key.
///   The limits are those of all together. Room for a value is made among those that share its lock,
///   and elsewhere only if there is none: where costs are spread very unevenly, an entry may go that is
///   worth more than one behind another lock.
///   Dropped values are released, and told of, after the lock.
/// - Complexity: O(1) a hit, a set or a removal; O(*n*) for `removeAll`, in steps between which others
///   have the lock.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let shards: MemoryShards<Key, Value>
  @usableFromInline let options: MemoryOptions
  @usableFromInline let cost: (@Sendable (Value) -> Int)?
  @usableFromInline let time: CoarseTime

  /// Whether anything here may expire, by the cache's times or its own.
  @usableFromInline let mayExpire: Atomic<Bool>

  /// Keeps at most `countLimit` values; of zero or less, none.
  ///
  /// - Parameters:
  ///   - countLimit: How many; at most 2,147,483,646.
  ///   - timeToLive: How long after it left its origin a value is kept.
  ///   - timeToIdle: How long after it was last asked for, or stored, a value is kept.
  ///   - jitter: What share of its time to live may be taken off a value, at random, so that not all
  ///     that came together expire together; from 0 to 1.
  ///   - policy: Who has to go when there is no room.
  ///   - clock: By which values grow old.
  @inlinable
  public convenience init(
    countLimit: Int, timeToLive: TimeToLive = .never, timeToIdle: TimeToLive = .never,
    jitter: Double = 0, policy: EvictionPolicy = .adaptive,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    let options = MemoryOptions(
      policy: policy, isWeighted: false, timeToLive: timeToLive, timeToIdle: timeToIdle,
      jitter: jitter)
    self.init(
      MemoryBudget(countLimit: countLimit, costLimit: .max), options, cost: nil, CoarseTime(clock))
  }

  /// Keeps values of at most `costLimit` together.
  ///
  /// - Parameters:
  ///   - costLimit: In the unit of `cost`; of zero or less, only what costs nothing is kept.
  ///   - countLimit: How many values at most.
  ///   - timeToLive: How long after it left its origin a value is kept.
  ///   - timeToIdle: How long after it was last asked for, or stored, a value is kept.
  ///   - jitter: What share of its time to live may be taken off a value, at random, so that not all
  ///     that came together expire together; from 0 to 1.
  ///   - policy: Who has to go when there is no room.
  ///   - clock: By which values grow old.
  ///   - cost: What a value costs; less than zero is taken as zero. Called once a value.
  @inlinable
  public convenience init(
    costLimit: Int, countLimit: Int = .max, timeToLive: TimeToLive = .never,
    timeToIdle: TimeToLive = .never, jitter: Double = 0, policy: EvictionPolicy = .adaptive,
    clock: some Clock<Duration> = ContinuousClock(), cost: @escaping @Sendable (Value) -> Int
  ) {
    let options = MemoryOptions(
      policy: policy, isWeighted: true, timeToLive: timeToLive, timeToIdle: timeToIdle,
      jitter: jitter)
    self.init(
      MemoryBudget(countLimit: countLimit, costLimit: costLimit), options, cost: cost,
      CoarseTime(clock))
  }

  @inlinable
  init(
    _ budget: MemoryBudget, _ options: MemoryOptions, cost: (@Sendable (Value) -> Int)?,
    _ time: CoarseTime
  ) {
    shards = MemoryShards(budget, options)
    self.options = options
    self.cost = cost
    self.time = time
    mayExpire = Atomic(options.timeToLive != .never || options.timeToIdle != .never)
  }

  // MARK: Asking

  /// The value, if it is here and young enough.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if mayExpire.load(ordering: .relaxed) || lookup.counting == .nothing {
      return look(key, lookup.freshness, lookup.counting)?.value
    }
    // The usual question first: the rest is not in the way to a hit.
    if case .any = lookup.freshness {
      let hash = MemoryHash(key)
      return shards.withStore(hash) { $0.hit(key, hash, lookup.counting) }
    }
    if case .atMost(let age) = lookup.freshness, lookup.counting == .hits {
      let (hash, now) = (MemoryHash(key), time.now())
      return shards.withStore(hash) { $0.hit(key, hash, atMost: age, now) }
    }
    return look(key, lookup.freshness, lookup.counting)?.value
  }

  /// The value, if it is here and young enough.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { observer, _ in
      if let stamped = self.look(key, lookup.freshness, .everything) {
        observer.next(stamped.value)
      }
      observer.completed()
    }
  }

  /// The value, if it is here and young enough, with its age.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    Signal { observer, _ in
      if let stamped = self.look(key, lookup.freshness, .everything) {
        observer.next(stamped)
      } else if lookup.wantsReasons {
        self.reportAge(key, lookup)
      }
      observer.completed()
    }
  }

  @usableFromInline
  func reportAge(_ key: Key, _ lookup: Lookup) {
    if let stamped = peekStamped(key) { lookup.explainMiss(.tooOld(age: stamped.age)) }
  }

  @inlinable
  func look(_ key: Key, _ freshness: Freshness, _ counting: Counting) -> Stamped<Value>? {
    if case .reload = freshness { return nil }
    let (hash, now) = (MemoryHash(key), time.now())
    var move = MemoryMove<Key, Value>(now)
    let stamped = shards.withStore(hash) { $0.look(key, hash, freshness, counting, &move) }
    shards.finish(&move)
    return stamped
  }

  // MARK: Writing

  /// Keeps or forgets, at once.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      set(key, value, revision, options.timeToLive)
    case .remove(let key, let revision):
      let hash = MemoryHash(key)
      var move = MemoryMove<Key, Value>(time.now())
      shards.withStore(hash) { $0.remove(key, hash, revision, &move) }
      shards.finish(&move)
    case .removeAll(let revision):
      shards.removeAll(revision, time.now())
    case .fill(let key, let stamped, let token):
      let (hash, now) = (MemoryHash(key), time.now())
      let bornAt = now.subtractingReportingOverflow(stamped.nanoseconds).partialValue
      let details = MemoryDetails(
        cost: cost(of: stamped.value), bornAt: bornAt,
        deadline: options.deadline(options.timeToLive, bornAt, hash), revision: .none)
      let isKept = shards.put(hash, cost: details.cost, now) {
        $0.fill(key, hash, stamped.value, stamped.validator, details, token, &$1)
      }
      return isKept ? Self.done : .empty
    }
    return Self.done
  }

  /// Keeps `value` for `key`, at once: as for every cache, but without the detour by ``apply(_:)``.
  ///
  /// - Returns: The outcome, which is success.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key) -> Signal<Void> {
    set(key, value, .next(), options.timeToLive)
    return Self.done
  }

  /// Keeps `value` for `key`, for a time of its own instead of the cache's.
  ///
  /// - Parameter timeToLive: From now on; what has come to its end at once is not kept, and neither
  ///   is what was kept before.
  @inlinable
  public func set(_ value: Value, for key: Key, timeToLive: TimeToLive) {
    if timeToLive != .never { mayExpire.store(true, ordering: .relaxed) }
    set(key, value, .next(), timeToLive)
  }

  @inlinable
  func set(_ key: Key, _ value: Value, _ revision: Revision, _ timeToLive: TimeToLive) {
    if cost == nil { return put(key, value, revision, timeToLive) }
    // What a value costs may take a while to find out.
    PendingWrite.during(revision) { put(key, value, revision, timeToLive) }
  }

  @inlinable
  func put(_ key: Key, _ value: Value, _ revision: Revision, _ timeToLive: TimeToLive) {
    let (hash, now) = (MemoryHash(key), time.now())
    let details = MemoryDetails(
      cost: cost(of: value), bornAt: now, deadline: options.deadline(timeToLive, now, hash),
      revision: revision)
    shards.put(hash, cost: details.cost, now) { $0.set(key, hash, value, details, &$1) }
  }

  @inlinable
  func cost(of value: Value) -> Int {
    guard let cost else { return 0 }
    return max(0, cost(value))
  }

  /// The outcome of every write.
  @inlinable
  static var done: Signal<Void> { Success.done }
}

/// One success for all: it is made once.
@usableFromInline
enum Success {
  @usableFromInline static let done = Signal.just(())
}
