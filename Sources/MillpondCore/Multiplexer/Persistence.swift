public import MillpondSignals

/// Where the values of a multiplexer outlive the process.
///
/// In `Millpond`, `.disk("profiles", in: folder)` is one.
public struct Persistence<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let cache: AnyCache<Key, Value>
  let flush: @Sendable () -> Signal<Void>

  /// Whether values outlive what keeps them in memory.
  let isLasting: Bool

  /// Keeps values in `cache`.
  ///
  /// - Parameters:
  ///   - cache: It tells the ages of its values, if they are to be known after a start.
  ///   - flush: Completes when what was written is where it is to stay, in addition to ``Source/flush(_:)`` of
  ///     the cache.
  public init(
    _ cache: some Cache<Key, Value>, flush: @escaping @Sendable () -> Signal<Void> = { .just(()) }
  ) {
    self.cache = AnyCache(cache)
    self.flush = flush
    isLasting = !(cache is EmptyCache<Key, Value>)
  }

  /// They don't.
  public static var none: Persistence {
    Persistence(EmptyCache())
  }
}
