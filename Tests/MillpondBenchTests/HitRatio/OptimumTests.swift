import MillpondTesting
import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct OptimumTests {
  @Test(arguments: 0..<60 as Range<UInt64>)
  func `it has as many hits as the best of all ways to keep and drop`(seed: UInt64) {
    let keys = randomKeys(seed: seed, length: 24, count: 7)
    let optimum = Optimum(of: keys)

    for capacity in 1...4 {
      #expect(optimum.hits(capacity: capacity) == mostHits(keys, capacity))
    }
  }

  @Test func `of a loop, as many entries as fit are kept, and the others are not admitted`() {
    #expect(Optimum(of: (0..<1_000).map { $0 % 10 }).hits(capacity: 4) == 4 * 99)
  }

  @Test func `with room for all keys, only the first access of each is a miss`() {
    let keys = randomKeys(seed: 1, length: 500, count: 30)

    #expect(Optimum(of: keys).hits(capacity: 30) == 500 - Set(keys).count)
  }

  private func randomKeys(seed: UInt64, length: Int, count: UInt64) -> [UInt64] {
    var random = SeededGenerator(seed: seed)
    return (0..<length).map { _ in .random(in: 0..<count, using: &random) }
  }

  /// Tries every way.
  ///
  /// The sets of kept keys that can be reached are few enough: each with the most hits so far.
  private func mostHits(_ keys: [UInt64], _ capacity: Int) -> Int {
    var best: [Set<UInt64>: Int] = [[]: 0]
    for key in keys {
      var next: [Set<UInt64>: Int] = [:]
      for (kept, hits) in best {
        let hits = kept.contains(key) ? hits + 1 : hits
        let all = kept.union([key])
        let choices = [kept] + (all.count <= capacity ? [all] : all.map { all.subtracting([$0]) })
        for choice in choices { next[choice] = max(next[choice] ?? 0, hits) }
      }
      best = next
    }
    return best.values.max() ?? 0
  }
}
