import MillpondCore
import MillpondSignals

/// Returns gets from caches with a thousand String keys of 40 characters, beside a dictionary under
/// our own lock with the same keys.
func cacheRows() -> [Row] {
  [
    Row(
      "memory-hit", "a hit in memory, get and subscribe", target: 85,
      mallocs: 0, beside: .stringTable, body: .hits { $0 }),
    Row(
      "layered-hit", "the same, memory over memory over nothing, reusing in flight",
      target: 110, mallocs: 0, peer: .asyncCode(85), beside: .stringTable,
      body: .hits { memory in
        memory.layered(over: MemoryCache(countLimit: 10).layered(over: EmptyCache()))
          .reusingInFlight()
      }),
    Row(
      "erased-hit", "the same, behind AnyCache", target: 150,
      peer: .asyncCode(85), beside: .stringTable,
      body: .hits { memory in
        AnyCache(memory.layered(over: MemoryCache(countLimit: 10).layered(over: EmptyCache())))
      }),
    Row(
      "layered-miss", "a miss in two layers of memory over nothing",
      beside: .objects(4), body: .misses),
    Row(
      "flight-join", "joining a flight and leaving it", target: 1_000,
      beside: .objects(4), body: .joins),
  ]
}

extension Work {
  /// Returns hits in a memory cache through a composition over it.
  static func hits<Composition: Cache<String, Int>>(
    called name: String = "ours",
    _ compose: @escaping @Sendable (MemoryCache<String, Int>) -> Composition
  ) -> Work {
    let composed = Locked<Composition?>(nil)
    return Work(
      name, expected: { $0 / 1_000 * triangle(1_000) },
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

  /// Misses in two layers of memory over nothing.
  static let misses = misses(called: "two-misses") { upper, lower in
    upper.layered(over: lower.layered(over: EmptyCache()))
  }

  /// Returns misses in a composition of two layers of memory.
  static func misses<Composition: Cache<String, Int>>(
    called name: String = "ours",
    _ compose:
      @escaping @Sendable (MemoryCache<String, Int>, MemoryCache<String, Int>) ->
      Composition
  ) -> Work {
    Work(name, expected: { $0 }) { operations in
      let sum = Sum()
      let cache = compose(MemoryCache(countLimit: 10), MemoryCache(countLimit: 10))
      for _ in 0..<(operations / 1_000) {
        for key in stringKeys { cache.get(key).subscribe(onCompleted: { sum.add(1) }) }
      }
      return sum.take()
    }
  }

  fileprivate static let joins = Work(expected: { $0 }) { operations in
    let sum = Sum()
    let cache = Silent().reusingInFlight()
    let first = cache.get("a").subscribe()
    for _ in 0..<operations {
      let joiner = cache.get("a").subscribe()
      sum.add(joiner.isDisposed ? 0 : 1)
      joiner.dispose()
    }
    first.dispose()
    return sum.take()
  }
}

/// Never answers.
private struct Silent: Source {
  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    .never
  }
}
