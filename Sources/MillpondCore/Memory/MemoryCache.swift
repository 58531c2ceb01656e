public import MillpondSignals

/// Keeps values in memory, up to a count or a cost, dropping what has not been used for longest.
///
/// A value that costs more than the limit is not stored, and nothing else is dropped for it; what
/// was kept for its key is.
///
///     let images = MemoryCache<URL, Image>(costLimit: .mebibytes(64), cost: \.byteCount)
///
/// - Note: Any thread. Dropped values are released after the lock.
/// - Complexity: O(1) a hit, a set or a removal; O(*n*) for `removeAll`.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let store: Locked<MemoryStore<Key, Value>>
  @usableFromInline let cost: (@Sendable (Value) -> Int)?
  @usableFromInline let timeline: Timeline

  /// Keeps at most `countLimit` values; of zero or less, none.
  @inlinable
  public init(countLimit: Int, clock: some Clock<Duration> = ContinuousClock()) {
    store = Locked(MemoryStore(countLimit: countLimit, costLimit: .max))
    cost = nil
    timeline = Timeline(clock)
  }

  /// Keeps values of at most `costLimit` together.
  ///
  /// - Parameters:
  ///   - costLimit: In the unit of `cost`; of zero or less, only what costs nothing is kept.
  ///   - countLimit: How many values at most.
  ///   - cost: What a value costs; less than zero is taken as zero. Called once a value.
  ///   - clock: By which ages are told.
  @inlinable
  public init(
    costLimit: Int, countLimit: Int = .max, clock: some Clock<Duration> = ContinuousClock(),
    cost: @escaping @Sendable (Value) -> Int
  ) {
    store = Locked(MemoryStore(countLimit: countLimit, costLimit: costLimit))
    self.cost = cost
    timeline = Timeline(clock)
  }

  /// How many values there are.
  @inlinable
  public var count: Int {
    store.withLock { $0.count }
  }

  /// What they cost together.
  @inlinable
  public var totalCost: Int {
    store.withLock { $0.totalCost }
  }

  /// The value, if it is here and young enough.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if case .any = lookup.freshness { return store.withLock { $0.hit(key) } }
    return hit(key, lookup.freshness)?.value
  }

  /// The value, if it is here and young enough.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { observer, _ in
      if let value = self.now(key, lookup) { observer.next(value) }
      observer.completed()
    }
  }

  /// The value, if it is here and young enough, with its age.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    Signal { observer, _ in
      if let stamped = self.hit(key, lookup.freshness) {
        observer.next(stamped)
      } else if lookup.wantsReasons {
        self.reportAge(key, lookup)
      }
      observer.completed()
    }
  }

  @usableFromInline
  func reportAge(_ key: Key, _ lookup: Lookup) {
    guard let entry = store.withLock({ $0.entry(key) }) else { return }
    lookup.explainMiss(.tooOld(age: timeline.now() - entry.bornAt))
  }

  @inlinable
  func hit(_ key: Key, _ freshness: Freshness) -> Stamped<Value>? {
    if case .reload = freshness { return nil }
    let now = timeline.now()
    return store.withLock { $0.hit(key, freshness, now) }
  }

  /// Keeps or forgets, at once.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      let entry = entry(Stamped(value), revision)
      release(store.withLock { $0.set(key, entry) })
    case .remove(let key, let revision):
      release(store.withLock { $0.remove(key, revision) })
    case .removeAll(let revision):
      release(store.withLock { $0.removeAll(revision) })
    case .fill(let key, let stamped, let mark):
      let entry = entry(stamped, .none)
      release(store.withLock { $0.fill(key, entry, mark) })
    }
    return .just(())
  }

  /// What was last told of the key, or of one that shares its stripe.
  @inlinable
  public func mark(for key: Key) -> Mark {
    .told(store.withLock { $0.lastTold(key) })
  }

  /// One store; it knows which keys it has.
  public func layout(for key: Key?) -> Layout {
    Layout(
      .store, "MemoryCache", holds: key.map { key in store.withLock { $0.entry(key) != nil } },
      size: { LayerSize(count: self.count, cost: self.cost.map { _ in self.totalCost }) })
  }

  @inlinable
  func entry(_ stamped: Stamped<Value>, _ revision: Revision) -> MemoryEntry<Value> {
    MemoryEntry(
      value: stamped.value, cost: max(0, cost?(stamped.value) ?? 0),
      bornAt: timeline.now() - stamped.age, validator: stamped.validator,
      revision: revision)
  }

  /// Where dropped values go: out of the lock.
  @inlinable
  func release(_ dropped: DroppedEntries<Key, Value>) {}
}
