public import MillpondSignals

extension MemoryCache {
  /// The number of values, including expired ones that still take up room.
  ///
  /// - Complexity: O(1), without a lock.
  public var count: Int {
    shards.budget.count
  }

  /// The cost of all values; zero if the cache was created without a cost function.
  ///
  /// - Complexity: O(1), without a lock.
  public var totalCost: Int {
    shards.budget.cost
  }

  /// Returns the value if it is stored and has not expired; this does not count as a use.
  ///
  /// - Parameter key: The key.
  public func peek(_ key: Key) -> Value? {
    peekStamped(key)?.value
  }

  /// Returns all entries, in no particular order, without counting this as a use.
  ///
  /// Entries written meanwhile may be included or not.
  ///
  /// - Complexity: O(*n*). Each lock is held while its part is copied.
  public func snapshot() -> [(key: Key, value: Value)] {
    let now = time.now()
    var all: [(key: Key, value: Value)] = []
    all.reserveCapacity(count)
    shards.forEach { store in
      for slot in 0..<store.slab.isUsed.count where store.slab.isUsed[slot] {
        let pair = store.slab.pairs[slot]
        if !store.times.isExpired(Slot(slot), now) { all.append((pair.key, pair.value)) }
      }
      return true
    }
    return all
  }

  /// The keys of all entries, in no particular order, without counting this as a use.
  ///
  /// - Complexity: O(*n*), as ``snapshot()``.
  public var keys: [Key] {
    snapshot().map(\.key)
  }

  /// The statistics since the creation of the cache.
  public var statistics: MemoryStatistics {
    var sum = MemoryStatistics()
    shards.forEach { store in
      sum.add(store.statistics)
      return true
    }
    return sum
  }

  /// The values that the cache no longer stores, with the cause, from the subscription on.
  ///
  /// They are sent outside the locks, on the thread that caused the removal, so an observer may use
  /// the cache; removals that it causes are sent afterwards. The signal ends with the cache.
  ///
  /// - Complexity: Free without subscribers.
  public var removals: Signal<Removal<Key, Value>> {
    shards.removalListeners.signal
  }

  /// A store, which knows which keys it has, and its running entries.
  public func topology(for key: Key?) -> Topology {
    Topology(
      .store, "MemoryCache", parts: [], holds: key.map { self.peekStamped($0) != nil },
      flight: key.flatMap { key in flights.flatMap { $0.record(of: key) } },
      size: { LayerSize(count: self.count, cost: self.cost.map { _ in self.totalCost }) },
      flights: { self.flights?.records() ?? [] }
    ).counting({ self.counters }, trim: { self.trim(to: $0) })
  }

  private var counters: StoreCounters {
    let statistics = statistics
    var counters = StoreCounters()
    (counters.hits, counters.misses) = (statistics.hits, statistics.misses)
    counters.insertions = statistics.insertions
    counters.rejections = statistics.rejections
    counters.evictions = statistics.evictions
    counters.expirations = statistics.expirations
    counters.countLimit = countLimit == MemoryBudget.greatestCount ? nil : countLimit
    counters.costLimit = cost == nil || costLimit == .max ? nil : costLimit
    return counters
  }

  /// Returns the value of any age if it has a validator, without counting this as a use.
  @usableFromInline
  func peekStale(_ key: Key) -> Stamped<Value>? {
    let (hash, now) = (MemoryHash(key), time.now())
    return shards.withStore(hash) { $0.peekStale(key, hash, now) }
  }

  @usableFromInline
  func peekStamped(_ key: Key) -> Stamped<Value>? {
    let (hash, now) = (MemoryHash(key), time.now())
    return shards.withStore(hash) { $0.peek(key, hash, now) }
  }
}
