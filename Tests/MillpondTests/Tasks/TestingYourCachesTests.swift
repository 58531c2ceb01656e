import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Testing your own caches".
@Suite(.timeLimit(.minutes(3))) struct TestingYourCachesTests {
  struct Names: Sendable {
    let cache: AnyCache<Int, String>

    init(over origin: some Source<Int, String>, clock: any Clock<Duration> = ContinuousClock()) {
      let memory = MemoryCache<Int, String>(
        countLimit: 100, timeToLive: .hours(1), clock: clock)
      cache = AnyCache(origin.replayed(in: memory))
    }
  }

  // snippet
  @Test func `ten callers make one request`() {
    let origin = TestOrigin<Int, String>()
    let names = Names(over: origin)
    let callers = (0..<10).map { _ in Recorder<String>().subscribe(to: names.cache.get(7)) }

    origin[7].next("Ada")
    origin[7].completed()

    #expect(callers.allSatisfy { $0.values == ["Ada"] && $0.isCompleted })
    #expect(origin[7].subscriptions == 1)
  }
  // end

  // snippet
  @Test func `a name is fetched anew after an hour`() {
    let (origin, clock) = (TestOrigin<Int, String>(), ManualClock())
    let names = Names(over: origin, clock: clock)
    names.cache.set("Ada", for: 7)

    clock.advance(by: .seconds(3_601))
    let caller = Recorder<String>().subscribe(to: names.cache.get(7))

    #expect(origin[7].activeRuns == 1)
    caller.dispose()
    #expect(origin[7].disposals == 1)
  }
  // end

  // snippet
  @Test func `a cancelled caller cancels the request`() async throws {
    let origin = TestOrigin<Int, String>()
    let names = Names(over: origin)
    let caller = Task { try await names.cache.get(7).value }
    try await origin[7].subscriptions(count: 1)

    caller.cancel()

    try await origin[7].disposals(count: 1)
  }
  // end

  // snippet
  @Test func `a disk that fails does not hide the network`() {
    let (disk, origin) = (TestCache<Int, String>(), TestOrigin<Int, String>())
    disk.failGets(of: 7, with: CocoaError(.fileReadUnknown))
    let caller = Recorder<String>().subscribe(to: disk.layered(over: origin).get(7))

    origin[7].next("Ada")

    #expect(caller.values == ["Ada"])
  }
  // end

  // snippet
  @Test func `the names keep the laws of caches`() async {
    let laws = CacheLaws(keys: [1, 2, 3], values: ["a", "b", "c"]) { Names(over: $0).cache }
    let breaches = await laws.breaches()
    #expect(breaches.isEmpty)
  }
  // end
}
