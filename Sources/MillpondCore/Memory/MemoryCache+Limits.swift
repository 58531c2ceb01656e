public import MillpondSignals

extension MemoryCache {
  /// How many values at most; zero keeps none.
  ///
  /// Lowered, it lets go at once.
  public var countLimit: Int {
    get { shards.budget.countLimit }
    set {
      shards.budget.countLimit = newValue
      shards.keepLimits()
    }
  }

  /// What they may cost together, in the unit of the cost.
  ///
  /// Lowered, it lets go at once.
  public var costLimit: Int {
    get { shards.budget.costLimit }
    set {
      shards.budget.costLimit = newValue
      shards.keepLimits()
    }
  }

  /// Lets go until no more is left than this share of what is kept, by number and by cost: first what
  /// is the least worth keeping.
  ///
  /// - Parameter share: From 0, for nothing, to 1, for all; what is no number is taken as 1.
  /// - Complexity: O(*n*), in steps between which others have the lock.
  public func trim(to share: Double) {
    shards.trim(to: share, .evicted)
  }

  /// Lets go because memory is short: of half when that is a warning, of everything when it is
  /// critical.
  ///
  /// What is under way is not touched.
  ///
  /// - Complexity: O(*n*), in steps between which others have the lock.
  public func relieve(_ pressure: MemoryPressure) {
    shards.trim(to: pressure == .warning ? 0.5 : 0, .pressure)
  }

  /// Lets go of everything of which the time is over.
  ///
  /// - Complexity: O(*n*), in steps between which others have the lock.
  public func removeExpired() {
    shards.removeExpired(time.now())
  }

  /// Relieves this cache whenever `pressure` sends, for as long as the result or a copy of it lives:
  /// see ``relieve(_:)``.
  public func onMemoryPressure(_ pressure: Signal<MemoryPressure>) -> PressureRelieved<MemoryCache>
  {
    onMemoryPressure(pressure) { cache, pressure in cache.relieve(pressure) }
  }
}
