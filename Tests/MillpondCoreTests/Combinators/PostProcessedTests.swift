import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct PostProcessedTests {
  let base = MemoryCache<String, Int>(countLimit: 5)

  struct Negative: Error {}

  private var cache: PostProcessed<MemoryCache<String, Int>> {
    base.postProcessed { key, value in
      if value < 0 { throw Negative() }
      return value * 10 + key.count
    }
  }

  @Test func `values are processed on their way out, and kept as they were`() {
    cache.set(4, for: "ab")

    #expect(base.now("ab", Lookup()) == 4)
    #expect(cache.now("ab", Lookup()) == 42)
    #expect(Recorder<Int>().subscribe(to: cache.get("ab")).values == [42])
  }

  @Test func `an error of the processing fails the get as it was thrown`() {
    cache.set(-4, for: "a")

    #expect(Recorder<Int>().subscribe(to: cache.get("a")).failure is Negative)
  }

  @Test func `processing that takes time does alike`() async throws {
    let cache = base.postProcessed(asynchronously: { _, value in
      await Task.yield()
      if value < 0 { throw Negative() }
      return value * 10
    })
    cache.set(4, for: "a")
    cache.set(-4, for: "b")

    #expect(try await cache.get("a").value == 40)
    await #expect(throws: Negative.self) { try await cache.get("b").value }
    #expect(cache.now("a", Lookup()) == nil)
    #expect(base.now("a", Lookup()) == 4)
  }
}
