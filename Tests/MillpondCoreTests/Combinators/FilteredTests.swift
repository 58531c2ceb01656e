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

  @Test func `an unwanted value of a reload leaves no older one, unless a write came since`() {
    cache.set(1, for: "a")
    let early = FillToken(isReload: true)
    cache.set(2, for: "b")

    recorder.subscribe(
      to: cache.layered(over: FunctionSource.signal { _ in .just(-1) })
        .get("a", freshness: .reload))
    let late = Recorder<Void>().subscribe(to: cache.apply(.fill("b", Stamped(-1), early)))

    #expect(recorder.values == [-1])
    #expect(late.transcript == ["completed"])
    #expect(base.contents == ["b": 2])
  }

  @Test func `an unwanted value is refused also by a base without removals`() {
    let base = AnyCache<String, Int>(get: { _ in .empty }, set: { _, _ in .just(()) })
    let cache = base.filtered { _, value in value >= 0 }

    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", Stamped(-1), FillToken(isReload: true))))

    #expect(fill.transcript == ["completed"])
  }

  @Test func `an unwanted value of a reload does not win over a set that is under way`() {
    let revision = Revision.next()
    let pending = PendingWrite(revision)
    let fill = cache.apply(.fill("a", Stamped(-1), FillToken(isReload: true)))
    #expect(Recorder<Void>().subscribe(to: fill).transcript == ["completed"])

    _ = cache.apply(.set("a", Stamped(5), revision))
    pending.end()

    #expect(base.contents == ["a": 5])
  }

  @Test func `an unwanted value of a reload leaves no older one, whatever else is under way`() {
    let other = PendingWrite(.next())
    cache.set(1, for: "a")

    _ = cache.apply(.fill("a", Stamped(-1), FillToken(isReload: true)))

    #expect(base.contents == [:])
    other.end()
  }

  @Test func `an unwanted value of a get leaves what is stored`() {
    cache.set(1, for: "a")

    _ = cache.apply(.fill("a", Stamped(-1), FillToken()))

    #expect(base.contents == ["a": 1])
  }
}
