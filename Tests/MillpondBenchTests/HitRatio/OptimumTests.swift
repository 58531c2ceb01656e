import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct OptimumTests {
  @Test(arguments: 0..<60 as Range<UInt64>)
  func `it has as many hits as the best of all ways to keep and drop`(seed: UInt64) {
    let trace = Trace.random(seed: seed, length: 24, keys: 7)
    let optimum = Optimum(of: trace)

    for capacity in 1...4 {
      #expect(optimum.hits(capacity: capacity) == mostHits(trace.numbers, capacity))
    }
  }

  @Test func `of a loop, as many entries as fit are kept, and the others are not admitted`() {
    let trace = Trace(name: "", keys: (0..<1_000).map { $0 % 10 })

    #expect(Optimum(of: trace).hits(capacity: 4) == 4 * 99)
  }

  @Test func `with room for all keys, only the first access of each is a miss`() {
    let trace = Trace.random(seed: 1, length: 500, keys: 30)

    #expect(Optimum(of: trace).hits(capacity: trace.keyCount) == 500 - trace.keyCount)
  }

  /// Tries every way.
  ///
  /// The sets of kept keys that can be reached are few enough: each with the most hits so far.
  private func mostHits(_ numbers: [Int], _ capacity: Int) -> Int {
    var best: [Set<Int>: Int] = [[]: 0]
    for number in numbers {
      var next: [Set<Int>: Int] = [:]
      for (kept, hits) in best {
        let hits = kept.contains(number) ? hits + 1 : hits
        let all = kept.union([number])
        let choices = [kept] + (all.count <= capacity ? [all] : all.map { all.subtracting([$0]) })
        for choice in choices { next[choice] = max(next[choice] ?? 0, hits) }
      }
      best = next
    }
    return best.values.max() ?? 0
  }
}
