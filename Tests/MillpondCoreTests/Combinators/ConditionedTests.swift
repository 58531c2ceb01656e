import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ConditionedTests {
  let base = TestCache<String, Int>()

  struct Trouble: Error {}

  @Test func `a get for which the condition holds is answered`() async throws {
    base.set(1, for: "a")

    #expect(try await base.conditioned { _ in true }.get("a").value == 1)
  }

  @Test func `a get for which it doesn't is refused, which is no miss`() async throws {
    base.set(1, for: "a")
    let cache = base.conditioned { key in
      await Task.yield()
      return key == "b"
    }
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))

    try await recorder.ended()

    if case CacheError.refused(let key)? = recorder.failure {
      #expect(key == "a")
    } else {
      Issue.record("\(recorder.transcript)")
    }
    #expect(base.gets == [])
  }

  @Test func `an error of the condition arrives as it was thrown`() async throws {
    let now: @Sendable (String) throws -> Bool = { _ in throw Trouble() }
    let later: @Sendable (String) async throws -> Bool = { _ in throw Trouble() }
    await #expect(throws: Trouble.self) { try await base.conditioned(now).get("a").value }
    await #expect(throws: Trouble.self) { try await base.conditioned(later).get("a").value }
  }

  @Test func `a condition that is known at once leaves a hit inside the call`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    let cache = memory.conditioned { $0 != "b" }
    for key in ["a", "b"] { memory.set(1, for: key) }

    #expect(cache.now("a", Lookup()) == 1)
    #expect(cache.now("b", Lookup()) == nil)
    let held = Recorder<Int>().subscribe(to: cache.get("a"))
    let refused = Recorder<Int>().subscribe(to: cache.get("b"))

    #expect(held.transcript == ["next 1", "completed"])
    #expect(refused.failure.map { "\($0)" } == "\(CacheError.refused(key: "b"))")
  }

  @Test func `a condition that is known at once is checked anew at each subscription`() {
    let isOpen = Locked(false)
    let get = base.conditioned { _ in isOpen.withLock { $0 } }.get("a")
    base.set(1, for: "a")

    #expect(Recorder<Int>().subscribe(to: get).values == [])
    isOpen.withLock { $0 = true }
    #expect(Recorder<Int>().subscribe(to: get).values == [1])
  }

  @Test func `under a refusal the lower layer is asked, and its value is stored above`() {
    let lower = TestCache<String, Int>()
    lower.set(7, for: "a")
    let both = base.conditioned { _ in false }.layered(over: lower)

    #expect(Recorder<Int>().subscribe(to: both.get("a")).values == [7])
    #expect(base.contents == ["a": 7])
  }

  @Test
  func `writes are not conditioned, and a condition that takes time leaves no immediate answer`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    let cache = memory.conditioned { _ in
      await Task.yield()
      return true
    }

    cache.set(1, for: "a")

    #expect(memory.now("a", Lookup()) == 1)
    #expect(cache.now("a", Lookup()) == nil)
  }

  @Test func `a caller that leaves while the condition is awaited starts no get`() async throws {
    let source = TestSource<Bool>()
    let cache = base.conditioned { [signal = source.signal] _ in try await signal.value }
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
    try await source.subscriptions(count: 1)

    recorder.dispose()

    try await source.disposals(count: 1)
    #expect(base.gets == [])
  }
}
