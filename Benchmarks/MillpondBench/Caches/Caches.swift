import MillpondCore
import MillpondSignals

/// Returns gets from caches with a thousand String keys of 40 characters, beside a dictionary under
/// our own lock with the same keys, or beside a bare memory cache.
func cacheRows() -> [Row] {
  [
    Row(
      "memory-hit", "a hit in memory, get and subscribe", target: 85, mallocs: 0,
      beside: .stringTable, .hits { $0 }),
    Row(
      "layered-hit", "the same, memory over memory over nothing, reusing in flight",
      target: 110, mallocs: 0, peer: ("async code", 85), beside: .stringTable,
      .hits { layered($0).reusingInFlight() }),
    Row(
      "erased-hit", "the same, behind AnyCache", target: 150, peer: ("async code", 85),
      beside: .stringTable, .hits { AnyCache(layered($0)) }),
    Row(
      "remembered-hit", "a fresh value, remembered in memory", times: 1.2, beside: .bareHits,
      .hits { silent.remembered(in: $0, .multiplexed) }),
    Row(
      "named-hit", "a hit in memory over nothing, both named, reusing in flight", times: 2,
      beside: .stringTable, .hits { named($0) }),
    Row(
      "monitored-hit", "the same, counted by a monitor", beside: .stringTable,
      .hits { named($0).monitored(by: CacheMonitor()) }),
    Row(
      "layered-miss", "a miss in two layers of memory over nothing", beside: .objects(4),
      .summing { sum, operations in
        let cache = layered(MemoryCache(countLimit: 10))
        for _ in 0..<(operations / 1_000) {
          for key in Work.stringKeys { cache.get(key).subscribe(onCompleted: { sum.add(1) }) }
        }
      }),
    Row(
      "flight-join", "joining a flight and leaving it", target: 1_000, beside: .objects(4),
      .summing { sum, operations in
        let cache = silent.reusingInFlight()
        let first = cache.get("a").subscribe()
        for _ in 0..<operations {
          let joiner = cache.get("a").subscribe()
          sum.add(joiner.isDisposed ? 0 : 1)
          joiner.dispose()
        }
        first.dispose()
      }),
  ]
}

private func layered(_ memory: MemoryCache<String, Int>) -> some Cache<String, Int> {
  memory.layered(over: MemoryCache(countLimit: 10).layered(over: EmptyCache()))
}

private func named(_ memory: MemoryCache<String, Int>) -> some Cache<String, Int> {
  memory.named("memory").layered(over: EmptyCache().named("nothing")).reusingInFlight()
}

/// A source that never answers.
private let silent = FunctionSource<String, Int>.signal { _ in .never }

extension Work {
  /// Hits in a memory cache, with nothing around it.
  fileprivate static let bareHits = hits("bare-hit") { $0 }

  /// Returns hits of a thousand keys in a composition over a memory that contains them.
  static func hits<Composition: Cache<String, Int>>(
    _ name: String = "ours",
    _ compose: @escaping @Sendable (MemoryCache<String, Int>) -> Composition
  ) -> Work {
    let composed = Locked<Composition?>(nil)
    return Work(
      name, expected: sumOfKeys,
      prepare: {
        let memory = MemoryCache<String, Int>(countLimit: 10_000)
        for (number, key) in stringKeys.enumerated() { memory.set(number, for: key) }
        let composition = compose(memory)
        composed.withLock { $0 = composition }
      },
      run: { operations in
        guard let cache = composed.withLock({ $0 }) else { return 0 }
        let sum = Sum()
        for _ in 0..<(operations / 1_000) {
          for key in stringKeys { cache.get(key).subscribe(onNext: { sum.add($0) }) }
        }
        return sum.take()
      })
  }
}
