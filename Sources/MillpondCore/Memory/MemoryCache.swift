public import MillpondSignals
public import Synchronization

/// A cache in memory, limited by count or cost, that by default keeps the values most likely to be
/// used again.
///
///     let images = MemoryCache<URL, Image>(
///       costLimit: .mebibytes(64), timeToLive: .after(.seconds(1_800)), cost: \.byteCount)
///
/// A write is visible when the call returns, and no limit is ever exceeded. A value that costs more
/// than the limit is not stored, and only the former value of its key is removed for it. With the
/// ``EvictionPolicy/adaptive`` policy the same holds for a value that costs more than a quarter of
/// the stored values, if it is used less often than the values together that would be evicted for
/// it.
///
/// An expired value is a miss. It takes up room until the next get of its key, until
/// ``removeExpired()``, or until later writes, each of which checks four entries, reach it. A value
/// with a validator stays until it is evicted or ``removeExpired()`` is called, so that its origin
/// can confirm it, unless it expired for want of use.
///
/// Time passes by `clock`; the continuous clock is read in steps of a few milliseconds, and stops
/// on Linux while the system sleeps. A step back of the clock counts as no time, so it expires
/// nothing and prolongs nothing.
///
/// - Note: Any thread. From 4,096 values on there are sixteen locks, selected by the hash of the
///   key. The limits apply to all of them together. Room for a value is made among the values that
///   share its lock, and elsewhere only if there are none: with very uneven costs, an entry may be
///   evicted that is worth more than one behind another lock. Removed values are released and
///   reported outside the locks.
/// - Complexity: O(1) for a hit, a set or a removal; O(*n*) for removals of all or by predicate, in
///   steps between which other threads can take the locks.
@_fixed_layout
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let shards: MemoryShards<Key, Value>
  @usableFromInline let options: MemoryOptions
  @usableFromInline let cost: (@Sendable (Value) -> Int)?
  @usableFromInline let time: CoarseTime

  /// The time to live of values without one of their own, in nanoseconds; `Int64.max` for no limit.
  @usableFromInline let life: AtomicValue<Int64>

  /// Whether any entry may expire, by the cache's times or its own.
  @usableFromInline let mayExpire: AtomicValue<Bool>

  /// Whether a value had a validator, so that a stale one may be confirmed.
  @usableFromInline let hasValidators: AtomicValue<Bool>

  @usableFromInline let removalsByPredicate: RemovalsByPredicate<Key>

  /// The running entries, which a cache without signals never creates.
  @usableFromInline let lazyFlights: LazyObject
  @usableFromInline let makeFlightClock: @Sendable () -> FlightClock

  /// The subscriptions to memory pressure.
  @usableFromInline let reliefs: DisposableBag

  /// Creates a cache of at most `countLimit` values.
  ///
  /// - Parameters:
  ///   - countLimit: The greatest number of values, up to 2,147,483,646; zero or less stores none.
  ///   - timeToLive: The age, counted from its origin, at which a value expires.
  ///   - timeToIdle: The time without a get or a write after which a value expires.
  ///   - jitter: The greatest share of its time to live that is taken off a value at random, so
  ///     that values that arrived together do not all expire together; from 0 to 1.
  ///   - policy: The policy that chooses the entries to evict.
  ///   - clock: The clock that measures the age of values.
  @inlinable
  public convenience init(
    countLimit: Int, timeToLive: TimeToLive = .forever, timeToIdle: TimeToLive = .forever,
    jitter: Double = 0, policy: EvictionPolicy = .adaptive,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    let options = MemoryOptions(
      policy: policy, isWeighted: false, timeToLive: timeToLive, timeToIdle: timeToIdle,
      jitter: jitter)
    self.init(
      MemoryBudget(countLimit: countLimit, costLimit: .max), options, cost: nil, clock)
  }

  /// Creates a cache of values that cost at most `costLimit` together.
  ///
  /// - Parameters:
  ///   - costLimit: The greatest total cost, in the unit of `cost`; zero or less stores only values
  ///     without a cost.
  ///   - countLimit: The greatest number of values.
  ///   - timeToLive: The age, counted from its origin, at which a value expires.
  ///   - timeToIdle: The time without a get or a write after which a value expires.
  ///   - jitter: The greatest share of its time to live that is taken off a value at random, so
  ///     that values that arrived together do not all expire together; from 0 to 1.
  ///   - policy: The policy that chooses the entries to evict.
  ///   - clock: The clock that measures the age of values.
  ///   - cost: Returns the cost of a value; a negative cost counts as zero. Called once for each
  ///     write of a value.
  @inlinable
  public convenience init(
    costLimit: Int, countLimit: Int = .max, timeToLive: TimeToLive = .forever,
    timeToIdle: TimeToLive = .forever, jitter: Double = 0, policy: EvictionPolicy = .adaptive,
    clock: some Clock<Duration> = ContinuousClock(), cost: @escaping @Sendable (Value) -> Int
  ) {
    let options = MemoryOptions(
      policy: policy, isWeighted: true, timeToLive: timeToLive, timeToIdle: timeToIdle,
      jitter: jitter)
    self.init(
      MemoryBudget(countLimit: countLimit, costLimit: costLimit), options, cost: cost,
      clock)
  }

  @inlinable
  init(
    _ budget: MemoryBudget, _ options: MemoryOptions, cost: (@Sendable (Value) -> Int)?,
    _ clock: some Clock<Duration>
  ) {
    shards = MemoryShards(budget, options)
    self.options = options
    self.cost = cost
    time = CoarseTime(clock)
    life = AtomicValue(options.timeToLive.nanoseconds)
    mayExpire = AtomicValue(options.timeToLive != .forever || options.timeToIdle != .forever)
    hasValidators = AtomicValue(false)
    removalsByPredicate = RemovalsByPredicate()
    lazyFlights = LazyObject()
    makeFlightClock = { FlightClock(clock) }
    reliefs = DisposableBag()
  }

  /// Releases the entries that wait for a subscriber; running ones keep the cache alive.
  deinit {
    flights?.detachAll()
  }

  // MARK: Gets

  /// Returns the value if it is stored and fresh enough.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if mayExpire.load(ordering: .relaxed) || !lookup.counting.countsUse {
      return look(key, lookup.freshness, lookup.counting)?.value
    }
    // The most frequent lookup first, so that a hit skips the rest.
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

  /// Returns the value if it is stored and fresh enough, or else joins the running entry of the
  /// key.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { observer, lifetime in
      if let stamped = self.look(key, lookup.freshness, .everything) {
        observer.next(stamped.value)
      } else if self.hasFlight(of: key, lookup) {
        return self.joinFlight(key, lookup).map { $0.value }.run(observer, lifetime)
      }
      observer.completed()
    }
  }

  /// Returns the same answer, with the ages of its values.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    Signal { observer, lifetime in
      if let stamped = self.look(key, lookup.freshness, .everything) {
        observer.next(.value(stamped))
      } else if self.hasFlight(of: key, lookup) {
        return self.joinFlight(key, lookup).map { .value($0) }.run(observer, lifetime)
      } else if let outdated = self.outdated(key, lookup) {
        observer.next(.outdated(outdated))
      }
      if !lifetime.isEnded { observer.completed() }
    }
  }

  /// Returns the value that has just been too old for a get, if it may be confirmed or somebody
  /// wants to know its age.
  @inlinable
  func outdated(_ key: Key, _ lookup: Lookup) -> Stamped<Value>? {
    if hasValidators.load(ordering: .relaxed), let stamped = peekStale(key) { return stamped }
    return lookup.freshness != .any && lookup.hasListeners ? peekStamped(key) : nil
  }

  @inlinable
  func look(_ key: Key, _ freshness: Freshness, _ counting: Counting) -> Stamped<Value>? {
    if case .reload = freshness { return nil }
    return look(key, MemoryHash(key), freshness, counting)
  }

  @inlinable
  func look(
    _ key: Key, _ hash: MemoryHash, _ freshness: Freshness, _ counting: Counting
  ) -> Stamped<Value>? {
    if case .reload = freshness { return nil }
    var move = MemoryMove<Key, Value>(time.now())
    let stamped = shards.withStore(hash) { $0.look(key, hash, freshness, counting, &move) }
    shards.finish(&move)
    return stamped
  }

  // MARK: Writing

  /// Stores or removes at once.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision):
      set(key, stamped, revision)
    case .remove(let key, let revision):
      removeStored(key, revision)
      detachFlight(of: key, upTo: revision)
    case .removeAll(let revision):
      shards.removeAll(revision, time.now())
      // Only now, since the stores refuse what these removals refused.
      removalsByPredicate.forget(upTo: revision)
      flights?.detachAll(upTo: revision)
    case .removeMatching(let predicate, let revision): removeMatching(predicate, revision)
    case .fill(let key, let stamped, let token):
      return fill(key, MemoryHash(key), stamped, token)
    }
    return WriteOutcome.done
  }

  /// Stores the answer of a lower layer, unless its key was written after the token was taken.
  @inlinable
  func fill(
    _ key: Key, _ hash: MemoryHash, _ stamped: Stamped<Value>, _ token: FillToken
  ) -> Signal<Void> {
    let now = time.now()
    let details = details(of: stamped, hash, now, .none)
    let isKept = shards.put(hash, cost: details.cost, now) {
      $0.fill(key, hash, stamped.value, stamped.validator, details, token, &$1)
    }
    if isKept { return WriteOutcome.done }
    return fillLate(key, hash, stamped, details, token) ? WriteOutcome.done : .empty
  }

  /// Removes the stored value; returns false if a later write of the key wins.
  @inlinable
  @discardableResult
  func removeStored(_ key: Key, _ revision: Revision) -> Bool {
    let hash = MemoryHash(key)
    var move = MemoryMove<Key, Value>(time.now())
    let isAdmitted = shards.withStore(hash) { $0.remove(key, hash, revision, &move) }
    shards.finish(&move)
    return isAdmitted
  }

  /// Stores `value` for `key` at once, without the detour through ``apply(_:)``.
  ///
  /// - Returns: The outcome, which is success.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key) -> Signal<Void> {
    set(key, Stamped(value, nanoseconds: 0, rest: .max, validator: nil), .next())
    return WriteOutcome.done
  }

  @inlinable
  @inline(__always)  // its two callers pass the parts of a value in registers
  func set(_ key: Key, _ stamped: Stamped<Value>, _ revision: Revision) {
    let (hash, now) = (MemoryHash(key), time.now())
    let details = details(of: stamped, hash, now, revision)
    let isKept = shards.put(hash, cost: details.cost, now) {
      $0.set(key, hash, stamped.value, stamped.validator, details, &$1)
    }
    if !isKept { setLate(key, hash, stamped, details) }
    detachFlight(of: key, upTo: revision)
  }

  /// Returns the details of a value that arrives now.
  ///
  /// - Parameters:
  ///   - stamped: The value.
  ///   - hash: The hash of its key.
  ///   - now: The time.
  ///   - revision: The revision of a write; none for a fill.
  @inlinable
  func details(
    of stamped: Stamped<Value>, _ hash: MemoryHash, _ now: Int64, _ revision: Revision
  ) -> MemoryDetails {
    let cost = cost(of: stamped.value)
    if stamped.validator != nil { hasValidators.store(true, ordering: .relaxed) }
    let bornAt = now.subtractingReportingOverflow(stamped.nanoseconds).partialValue
    let deadline = options.deadline(after: life.load(ordering: .relaxed), bornAt, hash)
    if stamped.rest == .max {
      return MemoryDetails(cost: cost, bornAt: bornAt, deadline: deadline, revision: revision)
    }
    // Before the value is stored, so that no get misses that it expires.
    mayExpire.store(true, ordering: .relaxed)
    let own = options.deadline(after: stamped.rest, now, hash)
    return MemoryDetails(
      cost: cost, bornAt: bornAt, deadline: revision > .none ? own : min(deadline, own),
      ownDeadline: TimeToLive.deadline(after: stamped.rest, from: now), revision: revision)
  }

  @inlinable
  func cost(of value: Value) -> Int {
    guard let cost else { return 0 }
    return max(0, cost(value))
  }
}
