import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FilteredTests {
  let base = TestCache<String, Int>()
  let recorder = Recorder<Int>()

  private var cache: Filtered<TestCache<String, Int>> {
    base.filtered { _, value in value >= 0 }
  }

  @Test func `a value that is not wanted is a miss, and the lower layer is asked`() {
    base.set(-1, for: "a")
    let lower = TestCache<String, Int>()
    lower.set(1, for: "a")

    #expect(recorder.subscribe(to: cache.get("a")).transcript == ["completed"])
    let layered = Recorder<Int>().subscribe(to: cache.layered(over: lower).get("a"))
    #expect(layered.values == [1])
    #expect(base.contents == ["a": 1])
  }

  @Test func `to set what is not wanted removes the key`() {
    cache.set(1, for: "a")

    cache.set(-1, for: "a")

    #expect(base.contents == [:])
  }

  @Test func `an unwanted value of a lower layer is answered, and not stored`() {
    let lower = TestCache<String, Int>()
    lower.set(-1, for: "a")

    recorder.subscribe(to: cache.layered(over: lower).get("a"))

    #expect(recorder.values == [-1])
    #expect(base.contents == [:])
  }

  @Test func `only what is wanted is there at once`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    memory.set(-1, for: "a")
    memory.set(1, for: "b")
    let cache = memory.filtered { _, value in value >= 0 }

    #expect(cache.now("a", Lookup()) == nil && cache.now("b", Lookup()) == 1)
  }
}
