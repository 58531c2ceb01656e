import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Objects that have reached the end of their lives, for the leak checker.
///
/// CI runs this suite by itself under the address sanitizer. Nothing here is left running.
@Suite struct LeakTests {
  struct Trouble: Error {}

  /// The end of a scenario's runs.
  enum Ending: CaseIterable {
    case value, miss, failure, oneLeaves, allLeave, written, timedOut
  }

  @Test(arguments: Ending.allCases)
  func `a composition of everything leaves nothing behind`(ending: Ending) {
    for _ in 0..<20 {
      let origin = TestOrigin<String, Int>()
      let clock = ManualClock()
      let memory = MemoryCache<String, Int>(countLimit: 2, clock: clock)
      let cache = AnyCache(
        memory.layered(
          over: TestCache<String, Int>().mapKeys { $0 }.mapValues(.identity)
            .layered(over: limited(origin, to: 1, reserved: 0))
        ).reusingInFlight())
      let recorders = ["a", "b", "c", "a", "b", "c"].map { key in
        Recorder<Int>().subscribe(
          to: cache.get(key, deadline: .after(.seconds(1), clock: clock)))
      }

      end(origin, cache, clock, recorders, by: ending)

      #expect(["a", "b", "c"].allSatisfy { origin[$0].activeRuns == 0 })
    }
  }

  /// Starts nothing on another thread, where it would still run at the end of the test.
  private func limited<Base: Source>(
    _ base: Base, to count: Int, reserved: Int
  ) -> Governed<Base> {
    base.limited(by: ConcurrencyLimiter(count, reserved: reserved, inBackground: { $0() }))
  }

  private func end(
    _ origin: TestOrigin<String, Int>, _ cache: AnyCache<String, Int>, _ clock: ManualClock,
    _ recorders: [Recorder<Int>], by ending: Ending
  ) {
    switch ending {
    case .value, .oneLeaves, .written:
      if ending == .oneLeaves { recorders[0].dispose() }
      if ending == .written { cache.removeAll() }
      for key in ["a", "b", "c"] {
        origin[key].next(1)
        origin[key].completed()
      }
    case .miss: for key in ["a", "b", "c"] { origin[key].completed() }
    case .failure: for key in ["a", "b", "c"] { origin[key].failed(Trouble()) }
    case .allLeave: for recorder in recorders { recorder.dispose() }
    case .timedOut: clock.advance(by: .seconds(2))
    }
  }

  @Test(arguments: Ending.allCases)
  func `a composition of what waits and repeats leaves nothing behind`(ending: Ending) {
    for _ in 0..<20 {
      let origin = TestOrigin<String, Int>()
      let clock = ManualClock()
      let pressure = PublishSubject<MemoryPressure>()
      let cache = AnyCache(
        MemoryCache<String, Int>(countLimit: 2, clock: clock).onMemoryPressure(pressure.signal)
          .filtered { _, _ in true }
          .layered(
            over: limited(
              origin.rateLimited(to: 1, per: .seconds(1), burst: 2, clock: clock), to: 2,
              reserved: 1
            )
            .timingOut(after: .seconds(2), clock: clock)
            .retrying(.immediate(attempts: 2), clock: clock)
            .hedged(with: EmptyCache(), after: .seconds(1), clock: clock)
            .recovering(with: EmptyCache()).switched(to: EmptyCache()) { $0 == "z" })
      ).reusingInFlight()
      let recorders = ["a", "b", "c", "a", "b", "c"].map { key in
        Recorder<Int>().subscribe(
          to: cache.get(key, deadline: .after(.seconds(1), clock: clock)))
      }

      end(origin, AnyCache(cache), clock, recorders, by: ending)
      pressure.next(.critical)
      clock.advance(by: .seconds(20))

      #expect(["a", "b", "c"].allSatisfy { origin[$0].activeRuns == 0 })
      #expect(clock.pendingCount == 0)
    }
  }

  @Test func `batches leave nothing behind`() {
    for _ in 0..<20 {
      let clock = ManualClock()
      let source = BulkSource<Int, Int> { keys in .of([keys[0]: 1]) }
        .batching(window: .seconds(1), max: 3, clock: clock)
      let recorders = (0..<5).map { Recorder<Int>().subscribe(to: source.get($0)) }
      recorders[4].dispose()
      clock.advance(by: .seconds(1))
      #expect(recorders.prefix(4).allSatisfy { $0.isCompleted } && clock.pendingCount == 0)
    }
  }

  @Test func `asynchronous codecs leave nothing behind`() async throws {
    let cache = TestCache<String, String>().mapValues(
      Codec<String, Int>.asynchronous(encode: { "\($0)" }, decode: { Int($0) ?? 0 }))
    for number in 0..<20 {
      let written = cache.set(number, for: "a")
      let cleared = cache.removeAll()
      #expect(try await cache.get("a").valueIfAny == nil)
      try await written.value
      try await cleared.value
    }
  }

  @Test func `operators that combine leave nothing behind`() async throws {
    for _ in 0..<20 {
      let (one, other) = (PublishSubject<Int>(), PublishSubject<Int>())
      let shared = one.signal.replayLast()
      let bag = DisposableBag()
      zip(shared, other.signal.flatMap(.latest) { .just($0) }).take(1)
        .subscribe().disposed(by: bag)
      shared.flatMap(.merge) { _ in other.signal }.subscribe().disposed(by: bag)
      one.next(1)
      other.next(2)
      other.completed()
      one.completed()
      bag.dispose()
      #expect(try await Signal.async { 1 }.value == 1)
    }
  }
}
