import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ProgramSearchTests {
  private enum Rule: Hashable { case small, few }

  private let plays = Locked(0)

  /// Programs of numbers below 100, which break a rule by a number over 20, and one by four numbers.
  private var search: ProgramSearch<Rule, Int> {
    let mix = ProgramMix<Int>([{ $0.number(below: 100) }], lengths: 6...9)
    return ProgramSearch(mix, timeLimit: .seconds(1)) { [plays] steps, seed, _ in
      plays.withLock { $0 += 1 }
      let lines = steps.map { "\($0)" }
      return (steps.contains { $0 > 20 } ? [Breach(.small, seed: seed, steps: lines, "a")] : [])
        + (steps.count > 3 ? [Breach(.few, seed: seed, steps: lines, "b")] : [])
    }
  }

  @Test func `each breach has the shortest program, of the smallest numbers`() async {
    let breaches = await search.breaches(seed: 7)

    #expect(breaches.map(\.law) == [.small, .few])
    #expect(breaches.map(\.steps) == [["21"], ["0", "0", "0", "0"]])
    #expect(breaches.map(\.seed) == [7, 7])
  }

  @Test func `a breach that must not be repeated is found in one run, and a known one left out`()
    async
  {
    let breaches = await search.breaches(seed: 7, besides: [.small], unshortened: .few)

    #expect(breaches.map(\.law) == [.few])
    #expect(6...9 ~= breaches.first?.steps.count ?? 0)
    #expect(plays.withLock { $0 } == 1)
  }

  @Test func `the same seed gives the same program, and another one another`() async {
    var found: [[String]] = []
    for seed in [3, 3, 4] as [UInt64] {
      let breaches = await search.breaches(seed: seed, besides: [.small], unshortened: .few)
      found.append(breaches.first?.steps ?? [])
    }

    #expect(found[0] == found[1] && found[0] != found[2])
  }

  @Test func `a breach without a program is one line`() {
    #expect("\(Breach(Rule.small, "a"))" == "the law small is broken: a")
  }
}
