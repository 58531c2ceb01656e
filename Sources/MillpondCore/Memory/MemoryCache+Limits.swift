import MillpondSignals
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
