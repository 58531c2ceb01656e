import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Faults that the laws and the soak have found.
@Suite struct FoundByLawsTests {
  @Test func `the value of a running flight is found under an empty layer too`() {
    let origin = TestOrigin<String, Int>()
    let cache = MemoryCache<String, Int>(countLimit: 3).layered(over: origin).reusingInFlight()
    Recorder<Int>().subscribe(to: cache.get("a"))
    origin["a"].next(1)

    let alone = Recorder<Int>().subscribe(to: cache.get("a"))
    let under = Recorder<Int>().subscribe(to: EmptyCache().layered(over: cache).get("a"))

    #expect(alone.transcript == ["next 1", "completed"])
    #expect(under.transcript == alone.transcript)
  }

  /// Returns the contents of the middle one of three layers, and the answers, after a write while
  /// the upper one is asked.
  private func kept(
    _ compose: (AnyCache<String, Int>, TestCache<String, Int>, TestCache<String, Int>) ->
      AnyCache<String, Int>
  ) -> (middle: [String: Int], answers: [Int]) {
    let origin = TestOrigin<String, Int>()
    let upper = MemoryCache<String, Int>(countLimit: 3).layered(over: origin)
    let (middle, lower) = (TestCache<String, Int>(), TestCache<String, Int>())
    let cache = compose(AnyCache(upper), middle, lower)
    let before = Recorder<Int>().subscribe(to: cache.get("a"))
    cache.remove("a")
    lower.set(1, for: "a")
    origin["a"].completed()
    let after = Recorder<Int>().subscribe(to: cache.get("a"))
    origin["a"].completed()
    return (middle.contents, before.values + after.values)
  }

  @Test
  func `a write that is under way may cost a fill, depending on the composition, and nothing else`()
  {
    let left = kept { AnyCache($0.layered(over: $1).layered(over: $2)) }
    let right = kept { AnyCache($0.layered(over: $1.layered(over: $2))) }

    // The token of the middle layer is taken at the get of its composition, here before the write.
    #expect(right.middle == ["a": 1])
    #expect(left.answers == [1, 1] && right.answers == [1, 1])
  }

  @Test func `a run that is left is cancelled before the next one starts`() async throws {
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
          observer.next(1)
        }
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = origin.limited(to: 1)
    let first = cache.get(1).subscribe()
    let second = Recorder<Int>().subscribe(to: cache.get(2))

    first.dispose()

    _ = try await second.values(count: 1)
    #expect(starts.withLock { $0 } == 2)
    #expect(active.withLock { $0.most } == 1)
    second.dispose()
    #expect(active.withLock { $0.now } == 0)
  }
}
