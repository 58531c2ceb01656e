/// What a cache keeps when it can't keep everything.
///
/// - Source: measured: `millpond-bench hit-ratio`.
public struct EvictionPolicy: Sendable, Hashable {
  @usableFromInline enum Kind: Sendable {
    case adaptive, adaptivePreferringSmall, leastRecentlyUsed
  }

  @usableFromInline let kind: Kind

  /// Keeps what is asked for often, and what is new for a while: how long is found out from what is
  /// asked for.
  ///
  /// A large value has to be asked for more often than all that would have to go for it.
  public static var adaptive: EvictionPolicy { EvictionPolicy(kind: .adaptive) }

  /// The same, but of those that could go the one goes that is asked for the least often for its
  /// cost, so that many small values are kept rather than a few large ones.
  public static var adaptivePreferringSmall: EvictionPolicy {
    EvictionPolicy(kind: .adaptivePreferringSmall)
  }

  /// Keeps what was used last, and takes everything in.
  public static var leastRecentlyUsed: EvictionPolicy { EvictionPolicy(kind: .leastRecentlyUsed) }
}
