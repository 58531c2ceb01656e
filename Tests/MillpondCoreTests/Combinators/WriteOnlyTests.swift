import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct WriteOnlyTests {
  let base = TestCache<String, Int>()

  @Test func `it is notified, and every get is a miss that does not reach the base`() {
    let cache = base.writeOnly()

    cache.set(1, for: "a")

    #expect(base.contents == ["a": 1])
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).transcript == ["completed"])
    #expect(base.gets == [])
    cache.removeAll()
    #expect(base.contents == [:])
  }

  @Test func `as an upper layer it is filled by what is below`() {
    let lower = TestCache<String, Int>()
    lower.set(1, for: "a")

    let recorder = Recorder<Int>().subscribe(to: base.writeOnly().layered(over: lower).get("a"))

    #expect(recorder.values == [1])
    #expect(base.contents == ["a": 1])
  }

  @Test func `nothing is there at once`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    memory.set(1, for: "a")

    #expect(memory.writeOnly().now("a", Lookup()) == nil)
  }
}
