import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SourceGetTests {
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 3)

  @Test func `a miss is an empty signal, and an error only where a value has to be named`()
    async throws
  {
    let recorder = Recorder<Int>().subscribe(to: memory.get("a"))
    #expect(recorder.transcript == ["completed"])

    #expect(try await memory.get("a").valueIfAny == nil)
    await #expect {
      try await memory.get("a").value
    } throws: { error in
      if case CacheError.miss = error { true } else { false }
    }
    await #expect {
      try await memory.get("a").map { $0 + 1 }.value
    } throws: { error in
      if case CacheError.miss = error { true } else { false }
    }
  }

  @Test func `a hit in memory is delivered inside the subscription`() {
    memory.set(1, for: "a")
    let recorder = Recorder<Int>()

    recorder.subscribe(to: memory.layered(over: origin).reusingInFlight().get("a"))

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `an immediate value is had without a signal, and only if it is fresh enough`() {
    let cache = memory.layered(over: origin).reusingInFlight()
    #expect(cache.now("a") == nil)
    #expect(origin["a"].subscriptions == 0)

    memory.set(1, for: "a")

    #expect(cache.now("a") == 1)
    #expect(cache.now("a", freshness: .reload) == nil)
    #expect(memory.statistics.hits == 1)
  }

  /// An origin that computes its values at once.
  struct Computed: Source {
    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .just(1) }
    func now(_ key: String, _ lookup: Lookup) -> Int? { 1 }
  }

  @Test func `an origin has nothing stored, also immediately`() {
    let computed = Computed()

    #expect(computed.now("a") == 1)
    #expect(computed.now("a", freshness: .cachedOnly) == nil)
  }

  @Test func `a reload asks the origin, and its answer is stored`() {
    memory.set(1, for: "a")
    let cache = memory.layered(over: origin)
    let recorder = Recorder<Int>().subscribe(to: cache.get("a", freshness: .reload))

    origin["a"].next(2)
    origin["a"].completed()

    #expect(recorder.values == [2])
    #expect(memory.now("a", Lookup()) == 2)
  }

  @Test func `a failed reload leaves the good value where it is`() {
    memory.set(1, for: "a")
    let recorder = Recorder<Int>().subscribe(
      to: memory.layered(over: origin).get("a", freshness: .reload))

    origin["a"].failed(SignalError.timedOut(after: .seconds(1)))

    #expect(recorder.failure != nil)
    #expect(memory.now("a", Lookup()) == 1)
  }

  @Test func `an answer before the deadline is given, and the timer is called off`() {
    let clock = ManualClock()
    let recorder = Recorder<Int>().subscribe(
      to: origin.get("a", deadline: .after(.seconds(1), clock: clock)))

    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `a deadline is reported as an error, and the work is given up`() {
    let clock = ManualClock()
    let recorder = Recorder<Int>().subscribe(
      to: origin.get("a", deadline: .after(.seconds(1), clock: clock)))

    clock.advance(by: .seconds(1))

    #expect(recorder.transcript == ["failed \(SignalError.timedOut(after: .seconds(1), key: "a"))"])
    #expect(origin["a"].disposals == 1)
  }

  @Test func `the empty cache misses, and accepts writes`() {
    let empty = EmptyCache<String, Int>()

    #expect(Recorder<Void>().subscribe(to: empty.set(1, for: "a")).isCompleted)
    #expect(Recorder<Int>().subscribe(to: empty.get("a")).transcript == ["completed"])
  }

  @Test func `sizes are counted in powers of 1,024, and don't overflow`() {
    #expect(Int.kibibytes(2) == 2_048 && Int.mebibytes(1) == 1_048_576)
    #expect(Int.gibibytes(.max) == .max)
  }
}
