/// The policy that chooses the values to keep when there is no room for all.
///
/// - Source: measured: `millpond-bench hit-ratio`.
public struct EvictionPolicy: Sendable, Hashable {
  @usableFromInline enum Kind: Sendable {
    case adaptive, adaptivePreferringSmall, leastRecentlyUsed
  }

  @usableFromInline let kind: Kind

  /// Keeps values that are often used, and new values for a time that adapts to the use.
  ///
  /// A large value has to be used more often than all the values together that would have to be
  /// evicted for it.
  public static var adaptive: EvictionPolicy { EvictionPolicy(kind: .adaptive) }

  /// The same, but evicts the candidate with the fewest uses for its cost, so that many small
  /// values are kept rather than a few large ones.
  public static var adaptivePreferringSmall: EvictionPolicy {
    EvictionPolicy(kind: .adaptivePreferringSmall)
  }

  /// Keeps the most recently used values, and admits every value.
  public static var leastRecentlyUsed: EvictionPolicy { EvictionPolicy(kind: .leastRecentlyUsed) }
}
