import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SourcePlanTests {
  let clock = ManualClock()
  let memory = MemoryCache<String, Int>(countLimit: 2)
  let disk = TestCache<String, Int>()
  let origin = TestOrigin<String, Int>()

  @Test func `it names the layers that would be asked, and asks none`() {
    let cache = memory.named("memory").layered(over: disk.layered(over: origin))

    #expect(
      cache.plan(for: "a").map(\.description) == [
        "memory: no value", "TestCache: is asked", "TestOrigin: is asked",
      ])
    #expect(disk.gets.isEmpty && origin["a"].subscriptions == 0)
  }

  @Test func `layers below one that has the value would not be asked`() {
    memory.set(1, for: "a")

    #expect(memory.layered(over: origin).plan(for: "a").map(\.expectation) == [.answers])
  }

  @Test func `looking is not using`() {
    let memory = MemoryCache<String, Int>(countLimit: 2, policy: .leastRecentlyUsed)
    memory.set(1, for: "a")
    memory.set(2, for: "b")

    _ = memory.plan(for: "a")
    memory.set(3, for: "c")

    #expect(memory.plan(for: "a").map(\.expectation) == [.misses])
  }

  @Test func `a flight would be joined, unless what is over it has the value`() {
    let cache = memory.layered(over: origin).reusingInFlight(clock: clock)
    let caller = cache.get("a").subscribe()
    clock.advance(by: .seconds(2))

    #expect(cache.plan(for: "a").map(\.expectation) == [.joins(age: .seconds(2))])
    #expect(cache.plan(for: "b").map(\.expectation) == [.misses, .isAsked])
    memory.set(1, for: "a")
    #expect(cache.plan(for: "a").map(\.expectation) == [.answers])
    caller.dispose()
  }

  @Test func `a name that is given outside a policy is that of the layer`() {
    let cache = memory.readOnly().named("inner").readOnly().named("memory")
      .layered(over: origin.limited(to: 2).named("network"))
      .reusingInFlight(clock: clock).named("pictures")
    #expect(cache.plan(for: "a").map(\.layer) == ["memory", "network"])

    let caller = cache.get("a").subscribe()
    #expect(cache.plan(for: "a").map(\.layer) == ["pictures"])
    caller.dispose()
  }

  @Test func `keys are followed down`() {
    memory.set(1, for: "a")

    #expect(memory.mapKeys { "\($0)" }.plan(for: Substring("a")).map(\.expectation) == [.answers])
  }
}
