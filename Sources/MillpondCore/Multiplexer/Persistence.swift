public import MillpondSignals

/// The store in which the values of a multiplexer outlive the process.
///
/// `Millpond` has `.disk("profiles", in: folder)`.
public struct Persistence<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let cache: AnyCache<Key, Value>
  let flush: @Sendable () -> Signal<Void>

  /// Whether values outlive the object that keeps them in memory.
  let isLasting: Bool

  /// Creates a persistence that stores values in `cache`.
  ///
  /// - Parameters:
  ///   - cache: The store. To know the ages of values after a restart, it has to report them.
  ///   - flush: Completes when all writes are where they are to stay, in addition to
  ///     ``Source/flush(_:)->_`` of the cache.
  public init(
    _ cache: some Cache<Key, Value>, flush: @escaping @Sendable () -> Signal<Void> = { .just(()) }
  ) {
    self.cache = AnyCache(cache)
    self.flush = flush
    isLasting = !(cache is EmptyCache<Key, Value>)
  }

  /// A persistence that stores nothing.
  public static var none: Persistence {
    Persistence(EmptyCache())
  }
}
