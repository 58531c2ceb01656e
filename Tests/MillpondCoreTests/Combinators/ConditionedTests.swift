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
    let recorder = Recorder<Int>().subscribe(to: base.conditioned { $0 == "b" }.get("a"))

    try await recorder.ended()

    if case CacheError.refused(let key)? = recorder.failure {
      #expect(key == "a")
    } else {
      Issue.record("\(recorder.transcript)")
    }
    #expect(base.gets == [])
  }

  @Test func `what the condition throws arrives as it was thrown`() async throws {
    await #expect(throws: Trouble.self) {
      try await base.conditioned { _ in throw Trouble() }.get("a").value
    }
  }

  @Test func `tellings are not conditioned, and nothing is there at once`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    let cache = memory.conditioned { _ in false }

    cache.set(1, for: "a")

    #expect(memory.now("a", Lookup()) == 1)
    #expect(cache.now("a", Lookup()) == nil)
  }

  @Test func `who leaves while the condition is awaited asks nothing`() async throws {
    let source = TestSource<Bool>()
    let cache = base.conditioned { [signal = source.signal] _ in try await signal.value }
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
    try await source.subscriptions(count: 1)

    recorder.dispose()

    try await source.disposals(count: 1)
    #expect(base.gets == [])
  }
}
