public import MillpondSignals
import Synchronization

extension MemoryCache {
  /// The greatest number of values; zero stores none.
  ///
  /// Lowering it evicts at once.
  ///
  /// - Complexity: To lower it, O(*n*) in the evicted values, in steps between which other threads
  ///   can take the locks.
  public var countLimit: Int {
    get { shards.budget.countLimit }
    set {
      shards.budget.countLimit = newValue
      shards.keepLimits()
    }
  }

  /// The greatest total cost of the values, in the unit of the cost function.
  ///
  /// Lowering it evicts at once.
  ///
  /// - Complexity: To lower it, O(*n*) in the evicted values, in steps between which other threads
  ///   can take the locks.
  public var costLimit: Int {
    get { shards.budget.costLimit }
    set {
      shards.budget.costLimit = newValue
      shards.keepLimits()
    }
  }

  /// The time to live of values without one of their own.
  ///
  /// A change applies to values that are stored from then on. Those stored before keep theirs: see
  /// ``Cache/setTimeToLive(_:for:)`` for a single one.
  public var timeToLive: TimeToLive {
    get {
      let nanoseconds = life.load(ordering: .relaxed)
      return nanoseconds == .max ? .forever : .after(.nanoseconds(nanoseconds))
    }
    set {
      if newValue != .forever { mayExpire.store(true, ordering: .relaxed) }
      life.store(newValue.nanoseconds, ordering: .relaxed)
    }
  }

  /// Evicts the least valuable entries until no more than this share of the present ones is left,
  /// by count and by cost.
  ///
  /// - Parameter share: From 0, for nothing, to 1, for all; NaN counts as 1.
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  public func trim(to share: Double) {
    shards.trim(to: share, .evicted)
  }

  /// Removes all expired values.
  ///
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  public func removeExpired() {
    shards.removeExpired(time.now())
  }
}

extension MemoryCache {
  /// Removes values because memory is short: half of them for a warning, all when it is critical.
  ///
  /// Running gets are not affected.
  ///
  /// - Parameter pressure: The level of the shortage.
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  public func relieve(_ pressure: MemoryPressure) {
    shards.trim(to: pressure == .warning ? 0.5 : 0, .pressure)
  }

  /// Relieves this cache whenever `pressure` sends, for as long as the cache exists.
  ///
  ///     let images = MemoryCache<URL, Image>(countLimit: 500).onMemoryPressure(.ofSystem())
  ///
  /// To relieve another kind of cache, subscribe to `pressure` yourself.
  ///
  /// - Parameters:
  ///   - pressure: The signal of memory pressure, subscribed to at once. Its failure or completion
  ///     ends the relief.
  ///   - relieve: Relieves the cache; by default ``relieve(_:)``. Called with this cache, on the
  ///     thread that sends.
  /// - Returns: This cache.
  @discardableResult
  public func onMemoryPressure(
    _ pressure: Signal<MemoryPressure>,
    relieve: @escaping @Sendable (MemoryCache, MemoryPressure) -> Void = { $0.relieve($1) }
  ) -> MemoryCache {
    let subscription = pressure.subscribe(onNext: { [weak self] pressure in
      if let self { relieve(self, pressure) }
    })
    reliefs.insert(subscription)
    return self
  }
}
