import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SwitchedTests {
  let small = TestCache<Int, Int>()
  let large = TestCache<Int, Int>()

  private var cache: Switched<TestCache<Int, Int>, TestCache<Int, Int>> {
    small.switched(to: large) { $0 >= 10 }
  }

  @Test func `the key decides which layer is read and written`() {
    cache.set(1, for: 1)
    cache.set(2, for: 10)

    #expect(small.contents == [1: 1] && large.contents == [10: 2])
    #expect(Recorder<Int>().subscribe(to: cache.get(10)).values == [2])
    #expect(small.gets == [])
    cache.remove(10)
    #expect(small.contents == [1: 1] && large.contents == [:])
  }

  @Test func `a removal of everything reaches both`() {
    cache.set(1, for: 1)
    cache.set(2, for: 10)

    cache.removeAll()

    #expect(small.contents == [:] && large.contents == [:])
  }

  @Test func `the topology shows the one that was chosen, or both`() {
    let cache = small.named("small").switched(to: large.named("large")) { $0 >= 10 }

    #expect(cache.topology(for: 1).parts.map(\.name) == ["small"])
    #expect(cache.topology(for: 10).parts.map(\.name) == ["large"])
    #expect(cache.topology(for: nil).parts.map(\.name) == ["small", "large"])
    #expect(cache.topology(for: nil).role == .choice)
  }

  @Test func `a lookup names the one that had the value`() async throws {
    large.set(2, for: 10)

    let found = try await small.switched(to: large.named("large")) { $0 >= 10 }.lookUp(10).value

    #expect(found.value == 2 && found.provenance.origin == "large")
  }

  @Test(arguments: 0..<15)
  func `a switch that always goes one way can't be distinguished from that way`(seed: UInt64) async
  {
    let laws = CacheLaws(keys: [0, 1, 2, 3], values: Array(1...12)) { TestCache<Int, Int>() }
    let breach = await laws.difference(
      seed: seed, between: { a, b, _ in AnyCache(a.layered(over: b)) },
      and: { a, b, _ in
        let switched = b.switched(to: TestCache<Int, Int>()) { _ in false }
        return AnyCache(a.layered(over: switched.named("TestCache")))
      })

    #expect(breach == nil)
  }
}
