import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Soft refreshes: the old value stands in, and the state says why.
@Suite struct MultiplexerStaleTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let kept = TestCache<String, Int>()
  let multiplexer: Multiplexer<Int>
  let states = Recorder<ResourceState<Int>>()

  init() {
    let source = source
    multiplexer = Multiplexer(
      persistence: Persistence(kept), clock: clock, signal: { source.signal })
    multiplexer.set(1)
    _ = states.subscribe(to: multiplexer.states)
  }

  @Test
  func `after a refresh without a network the old value stands in and the state has the error`()
    throws
  {
    let refresh = Recorder<Int>().subscribe(to: multiplexer.refresh())
    source.failed(Offline())

    let state = try #require(states.values.last)
    #expect(refresh.transcript == ["next 1", "completed"])
    #expect(state.value == 1)
    #expect(state.error is Offline)
    #expect(!state.isLoading)
  }

  @Test func `after a refusal the refresh fails, and the old value is still there`() throws {
    let refresh = Recorder<Int>().subscribe(to: multiplexer.refresh())
    source.failed(Refused())

    let state = try #require(states.values.last)
    #expect(refresh.failure is Refused)
    #expect(state.value == 1)
    #expect(state.error is Refused)
  }

  @Test
  func `a mark asks nothing; the next get fetches, and without a network the old value stands in`()
    throws
  {
    multiplexer.markStale()
    #expect(source.subscriptions == 0)
    #expect(multiplexer.current == 1)

    let get = Recorder<Int>().subscribe(to: multiplexer.get())
    source.failed(Offline())

    #expect(get.values == [1])
    #expect(try #require(states.values.last).error is Offline)
  }

  @Test func `the mark is lost with the multiplexer, and the persisted value is fresh by its age`()
  {
    multiplexer.markStale()

    let next = Multiplexer<Int>(
      persistence: Persistence(kept), clock: clock, signal: { [source] in source.signal })

    #expect(Recorder<Int>().subscribe(to: next.get()).values == [1])
    #expect(source.subscriptions == 0)
  }

  @Test func `a marked value of the persistence is fetched anew, by the same multiplexer`() {
    let map = MultiplexerMap(
      over: Origin(signal: source.signal), countLimit: 1, persistence: Persistence(kept),
      clock: clock)
    map.set(1, for: "a")
    map.set(2, for: "b")  // evicts "a" from memory

    map.markAllStale()
    let get = Recorder<Int>().subscribe(to: map.get("a"))
    source.next(7)
    source.completed()

    #expect(get.values == [7])
  }
}

private struct Origin: Source {
  let signal: Signal<Int>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    signal
  }
}
