import MillpondCore
import MillpondSignals

/// Returns gets from caches with a thousand String keys of 40 characters, beside a dictionary under
/// our own lock with the same keys.
func cacheRows() -> [Row] {
  [
    Row(
      name: "memory-hit", summary: "9: a hit in memory, get and subscribe", target: 85,
      mallocTarget: 0, baseline: .stringTable, body: .hits { $0 }),
    Row(
      name: "layered-hit",
      summary: "9: the same, memory over memory over nothing, reusing in flight",
      target: 110, mallocTarget: 0, peer: .asyncCode(85), baseline: .stringTable,
      body: .hits { memory in
        memory.layered(over: MemoryCache(countLimit: 10).layered(over: EmptyCache()))
          .reusingInFlight()
      }),
    Row(
      name: "erased-hit", summary: "9: the same, behind AnyCache", target: 150,
      peer: .asyncCode(85), baseline: .stringTable,
      body: .hits { memory in
        AnyCache(memory.layered(over: MemoryCache(countLimit: 10).layered(over: EmptyCache())))
      }),
    Row(
      name: "mapped-hit", summary: "a hit in memory behind mapKeys and mapValues",
      baseline: .stringTable,
      body: .hits { memory in memory.mapKeys { $0 }.mapValues(.identity) }),
    Row(
      name: "layers-hit", summary: "the same as layered-hit, its layers in a list",
      target: 110, mallocTarget: 0, baseline: .stringTable,
      body: .hits { memory in
        layers {
          memory
          MemoryCache<String, Int>(countLimit: 10)
          EmptyCache<String, Int>()
        }.reusingInFlight()
      }),
    Row(
      name: "entry-hit", summary: "the signal of a key that is stored: cache[key]",
      baseline: .stringTable, body: .entryHits),
    Row(
      name: "entry-run", summary: "cache[key] = signal, followed to its end, and removed",
      baseline: .objects(4), body: .entryRuns),
    Row(
      name: "breaker-miss", summary: "a miss in two layers, the lower one behind a closed breaker",
      baseline: .misses,
      body: .misses { upper, lower in
        upper.layered(
          over: lower.layered(over: EmptyCache())
            .circuitBreaking(afterFailures: 5, for: .seconds(1)))
      }),
    Row(
      name: "layered-miss", summary: "a miss in two layers of memory over nothing",
      baseline: .objects(4), body: .misses),
    Row(
      name: "flight-join", summary: "joining a flight and leaving it", target: 1_000,
      baseline: .objects(4), body: .joins),
  ]
}

extension Work {
  /// Returns hits in a memory cache through a composition over it.
  static func hits<Composition: Cache<String, Int>>(
    called name: String = "",
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
    called name: String = "",
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

  fileprivate static let entryHits = Work("", expected: { $0 / 1_000 * triangle(1_000) }) {
    operations in
    let sum = Sum()
    let memory = MemoryCache<String, Int>(countLimit: 10_000)
    for (number, key) in stringKeys.enumerated() { memory.set(number, for: key) }
    for _ in 0..<(operations / 1_000) {
      for key in stringKeys { memory[key]?.subscribe(onNext: { sum.add($0) }) }
    }
    return sum.take()
  }

  fileprivate static let entryRuns = Work("", expected: { triangle($0) }) { operations in
    let sum = Sum()
    let memory = MemoryCache<String, Int>(countLimit: 10_000)
    for number in 0..<operations {
      memory["a"] = .deferred { .just(number) }
      memory["a"]?.subscribe(onNext: { sum.add($0) })
      memory["a"] = nil
    }
    return sum.take()
  }

  fileprivate static let joins = Work("", expected: { $0 }) { operations in
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
