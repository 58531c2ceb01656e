import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReadOnlyTests {
  let base = TestCache<String, Int>()

  @Test func `writes succeed and change nothing`() {
    base.set(1, for: "a")
    let cache = base.readOnly()

    let outcomes = [cache.set(2, for: "a"), cache.remove("a"), cache.removeAll()]
      .map { Recorder<Void>().subscribe(to: $0) }

    #expect(outcomes.allSatisfy { $0.isCompleted })
    #expect(base.contents == ["a": 1])
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [1])
  }

  @Test func `as an upper layer it stores nothing of what is below`() {
    let lower = TestCache<String, Int>()
    lower.set(1, for: "a")

    let recorder = Recorder<Int>().subscribe(to: base.readOnly().layered(over: lower).get("a"))

    #expect(recorder.values == [1])
    #expect(base.contents == [:])
  }

  @Test func `it still answers gets of stored values only`() {
    base.set(1, for: "a")

    let recorder = Recorder<Int>().subscribe(to: base.readOnly().get("a", freshness: .cachedOnly))

    #expect(recorder.values == [1])
  }
}
