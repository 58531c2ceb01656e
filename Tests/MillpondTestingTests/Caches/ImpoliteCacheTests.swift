import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Compositions over caches with late outcomes.
@Suite(.timeLimit(.minutes(1))) struct ImpoliteCacheTests {
  enum Composition: CaseIterable {
    case layered, twoLayers, shared, replayed, remembered, codec, closures
  }

  private func make(
    _ composition: Composition, over base: some Cache<Int, String>
  ) -> AnyCache<Int, String> {
    let memory = MemoryCache<Int, String>(countLimit: 100)
    let codec = Codec<String, String>.asynchronous(encode: { $0 }, decode: { $0 })
    return switch composition {
    case .layered: AnyCache(memory.layered(over: base))
    case .twoLayers: AnyCache(TestCache<Int, String>().layered(over: memory.layered(over: base)))
    case .shared: AnyCache(memory.layered(over: base).reusingInFlight())
    case .replayed: AnyCache(base.replayed(in: memory))
    case .remembered: AnyCache(base.remembered(in: memory, FreshnessPolicy()))
    case .codec: AnyCache(memory.layered(over: base.mapValues(codec)))
    case .closures:
      AnyCache(
        AnyCache(
          get: { base.get($0) }, set: { base.set($0, for: $1) }, remove: { base.remove($0) },
          removeAll: { base.removeAll() }))
    }
  }

  @Test(arguments: Composition.allCases, [true, false])
  func `a get sees the last write, whatever becomes of outcomes below`(
    composition: Composition, failsLate: Bool
  ) async throws {
    let double = TestCache<Int, String>()
    let base = ImpoliteCache(double, failsLate ? .failsLate : .neverEnds)
    let cache = make(composition, over: base)

    cache.set("one", for: 1)
    #expect(try await cache.get(1).valueIfAny == "one")
    cache.set("two", for: 1)
    cache.set("x", for: 2)
    #expect(try await cache.get(1).valueIfAny == "two")
    cache.remove(1)
    #expect(try await cache.get(1).valueIfAny == nil)
    cache.removeAll()
    #expect(try await cache.get(2).valueIfAny == nil)
    cache.set("three", for: 1)
    #expect(try await cache.get(1).valueIfAny == "three")
  }

  @Test func `a late failure of a lower layer removes what no later write has replaced`()
    async throws
  {
    let (memory, double) = (MemoryCache<Int, String>(countLimit: 10), TestCache<Int, String>())
    let slow = ImpoliteCache(double, .failsLate)
    let cache = memory.layered(over: slow)
    let first = Recorder<Void>().subscribe(to: cache.set("one", for: 1))
    double.set("later", for: 1)
    memory.set("later", for: 1)

    slow.release()

    #expect(double.contents[1] == "later" && memory.peek(1) == "later")
    #expect(first.values.isEmpty)
  }

  @Test func `writes that are stored late, the latest first, leave the latest`() {
    let double = TestCache<Int, String>()
    let late = ImpoliteCache(double, .storesLate)
    for number in 0..<3_000 { late.set("\(number)", for: number % 10) }
    #expect(double.contents.isEmpty && late.heldCount == 3_000)

    late.release()

    #expect((0..<10).allSatisfy { double.contents[$0] == "\(2_990 + $0)" })
  }
}
