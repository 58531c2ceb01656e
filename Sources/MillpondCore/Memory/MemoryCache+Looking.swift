public import MillpondSignals

extension MemoryCache {
  /// How many values there are, those included of which the time is over but that still take up room.
  ///
  /// - Complexity: O(1), without a lock.
  public var count: Int {
    shards.budget.count
  }

  /// What they cost together; zero if the cache was made without a cost.
  ///
  /// - Complexity: O(1), without a lock.
  public var totalCost: Int {
    shards.budget.cost
  }

  /// The value, if it is here and its time is not over; it does not count as asked for.
  public func peek(_ key: Key) -> Value? {
    peekStamped(key)?.value
  }

  /// All that is kept, without order; nothing counts as asked for.
  ///
  /// What is told meanwhile may be in it or not.
  ///
  /// - Complexity: O(*n*). Each of the locks is held while its part is copied.
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

  /// What has been done since the cache was made.
  public var statistics: MemoryStatistics {
    var sum = MemoryStatistics()
    shards.forEach { store in
      sum.add(store.statistics)
      return true
    }
    return sum
  }

  /// The values that are not kept any more, and why, from the subscription on.
  ///
  /// They are sent when the locks are free, on the thread on whose account they went, so that the
  /// cache may be told and asked meanwhile; what goes thereby is sent after that. Never ends before the
  /// cache does.
  ///
  /// - Complexity: Free while nobody is subscribed.
  public var removals: Signal<Removal<Key, Value>> {
    shards.audience.signal
  }

  /// One store; it knows which keys it has.
  public func layout(for key: Key?) -> Layout {
    Layout(
      .store, "MemoryCache", holds: key.map { self.peekStamped($0) != nil },
      size: { LayerSize(count: self.count, cost: self.cost.map { _ in self.totalCost }) })
  }

  @usableFromInline
  func peekStamped(_ key: Key) -> Stamped<Value>? {
    let (hash, now) = (MemoryHash(key), time.now())
    return shards.withStore(hash) { $0.peek(key, hash, now) }
  }
}
