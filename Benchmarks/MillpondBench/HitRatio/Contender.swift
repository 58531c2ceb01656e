import MillpondCore

/// The cache that is measured, used as anybody would: asked, and told on a miss.
struct Contender {
  private let cache: MemoryCache<UInt64, Int>

  init(_ limit: Limit, policy: EvictionPolicy = .adaptive) {
    cache =
      switch limit {
      case .count(let limit): MemoryCache(countLimit: limit, policy: policy)
      case .bytes(let limit): MemoryCache(costLimit: limit, policy: policy, cost: { $0 })
      }
  }

  /// Whether the cache has it.
  func isHit(_ access: Trace.Access) -> Bool {
    if cache.now(access.key, Lookup()) != nil { return true }
    cache.set(access.size, for: access.key)
    return false
  }
}
