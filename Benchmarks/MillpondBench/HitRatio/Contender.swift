import MillpondCore
import MillpondSignals

/// The measured cache, in its ordinary use: a get, and a set after a miss.
struct Contender {
  private let cache: MemoryCache<UInt64, Int>
  private let answer = Answer()

  init(_ limit: Limit, policy: EvictionPolicy = .adaptive) {
    cache =
      switch limit {
      case .count(let limit): MemoryCache(countLimit: limit, policy: policy)
      case .bytes(let limit): MemoryCache(costLimit: limit, policy: policy, cost: { $0 })
      }
  }

  /// Returns whether a get is a hit; sets the key after a miss.
  func isHit(_ access: Trace.Access) -> Bool {
    answer.isHit = false
    cache.get(access.key).subscribe(onNext: { [answer] _ in answer.isHit = true })
    if !answer.isHit { cache.set(access.size, for: access.key) }
    return answer.isHit
  }

  /// Sendable because one thread plays a trace, and the cache answers inside `subscribe`.
  private final class Answer: @unchecked Sendable {
    var isHit = false
  }
}
