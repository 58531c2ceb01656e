import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// What the laws and the soak have found, and what is not mended yet.
@Suite struct FoundByLawsTests {
  @Test func `what a running flight has brought is found under an empty layer too`() {
    let origin = TestOrigin<String, Int>()
    let cache = MemoryCache<String, Int>(countLimit: 3).layered(over: origin).reusingInFlight()
    Recorder<Int>().subscribe(to: cache.get("a"))
    origin["a"].next(1)

    let alone = Recorder<Int>().subscribe(to: cache.get("a"))
    let under = Recorder<Int>().subscribe(to: EmptyCache().layered(over: cache).get("a"))

    #expect(alone.transcript == ["next 1", "completed"])
    withKnownIssue("only `now` looks into the base before it joins the flight") {
      #expect(under.transcript == alone.transcript)
    }
  }

  /// What the middle one of three layers keeps if it is told something while the upper one is asked.
  private func kept(
    _ compose: (AnyCache<String, Int>, TestCache<String, Int>, TestCache<String, Int>) ->
      AnyCache<String, Int>
  ) -> [String: Int] {
    let origin = TestOrigin<String, Int>()
    let upper = MemoryCache<String, Int>(countLimit: 3).layered(over: origin)
    let (middle, lower) = (TestCache<String, Int>(), TestCache<String, Int>())
    let cache = compose(AnyCache(upper), middle, lower)
    Recorder<Int>().subscribe(to: cache.get("a"))
    cache.remove("a")
    lower.set(1, for: "a")
    origin["a"].completed()
    return middle.contents
  }

  @Test func `a telling on the way makes no difference between two ways to layer three`() {
    let left = kept { AnyCache($0.layered(over: $1).layered(over: $2)) }
    let right = kept { AnyCache($0.layered(over: $1.layered(over: $2))) }

    #expect(right == ["a": 1])
    withKnownIssue("the mark of the middle layer is read at the beginning, not when it is asked") {
      #expect(left == right)
    }
  }

  @Test func `who leaves is told to stop before the next one starts`() {
    let active = Locked((now: 0, most: 0))
    let starts = Locked(0)
    let origin = AnyCache<Int, Int>(
      get: { _ in
        .create { observer, lifetime in
          starts.withLock { $0 += 1 }
          active.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          lifetime.onEnd {
            active.withLock { $0.now -= 1 }
            withExtendedLifetime(observer) {}
          }
        }
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = origin.limited(to: 1)
    let first = cache.get(1).subscribe()
    let second = cache.get(2).subscribe()

    first.dispose()

    #expect(starts.withLock { $0 } == 2)
    withKnownIssue("the slot is passed on before the work that held it is torn down") {
      #expect(active.withLock { $0.most } == 1)
    }
    second.dispose()
    #expect(active.withLock { $0.now } == 0)
  }
}
