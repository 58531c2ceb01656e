import MillpondSignals
import Testing

@testable import MillpondTesting

@Suite struct ShrinkerTests {
  private func shrinker(
    limit: Int = 1_000, _ isBroken: @escaping @Sendable ([Int]) -> Bool
  ) -> Shrinker<Int> {
    Shrinker(
      simpler: { $0 == 0 ? [] : [0, $0 / 2, $0 - 1].filter { $0 >= 0 } },
      isBroken: { isBroken($0) }, limit: limit)
  }

  @Test func `only the steps that matter are left, in their order`() async {
    let shrunk = await shrinker { list in
      list.firstIndex(of: 7).map { list[$0...].contains(3) } ?? false
    }.shrink([1, 5, 7, 2, 9, 8, 3, 4])

    #expect(shrunk == [7, 3])
  }

  @Test func `the remaining steps are made as simple as they can be`() async {
    let shrunk = await shrinker { $0.contains { $0 > 20 } }.shrink([3, 99, 50, 4])

    #expect(shrunk == [21])
  }

  @Test func `a history that can't be made shorter stays as it is`() async {
    let shrunk = await shrinker { $0 == [1, 2] }.shrink([1, 2])

    #expect(shrunk == [1, 2])
  }

  @Test func `a law that breaks without any step is shown without any`() async {
    let shrunk = await shrinker { _ in true }.shrink([1, 2, 3])

    #expect(shrunk == [])
  }

  @Test func `no more lists than allowed are tried`() async {
    let tried = Locked(0)
    let shrunk = await shrinker(limit: 5) { list in
      tried.withLock { $0 += 1 }
      return list.count > 90
    }.shrink(Array(0..<100))

    #expect(tried.withLock { $0 } == 5)
    #expect(shrunk.count > 90)
  }
}
