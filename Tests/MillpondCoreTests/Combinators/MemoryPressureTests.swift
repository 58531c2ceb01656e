import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MemoryPressureTests {
  let base = MemoryCache<String, Int>(countLimit: 5)
  let pressure = Pipe<MemoryPressure>()

  @Test func `a layer under pressure is emptied`() {
    let cache = base.onMemoryPressure(pressure.signal)
    cache.set(1, for: "a")

    pressure.next(.warning)

    #expect(base.count == 0)
    cache.set(2, for: "a")
    #expect(cache.now("a", Lookup()) == 2)
  }

  @Test func `what to do may depend on how bad it is`() {
    let cache = base.onMemoryPressure(pressure.signal) { cache, pressure in
      if pressure == .critical { cache.removeAll() }
    }
    cache.set(1, for: "a")

    pressure.next(.warning)
    #expect(base.count == 1)
    pressure.next(.critical)
    #expect(base.count == 0)
  }

  @Test func `it listens for as long as a copy of it lives`() {
    var cache: AnyCache<String, Int>? = AnyCache(base.onMemoryPressure(pressure.signal))
    let copy = cache

    cache = nil
    copy?.set(1, for: "a")
    pressure.next(.warning)

    #expect(base.count == 0 && cache == nil)
    withExtendedLifetime(copy) {}
  }

  @Test func `nobody listens once it has gone`() {
    let ended = Pipe<Ending>()
    let endings = Recorder<Ending>()
    endings.subscribe(to: ended.signal)
    do {
      let cache = base.onMemoryPressure(pressure.signal.onEnd { ended.next($0) })
      cache.set(1, for: "a")
    }

    pressure.next(.critical)

    #expect(endings.values.count == 1)
    #expect(base.count == 1)
  }

  @Test func `M10 pressure while a get is under way neither hangs nor empties the answer`() {
    let origin = TestOrigin<String, Int>()
    let cache = base.onMemoryPressure(pressure.signal).layered(over: origin).reusingInFlight()
    let recorder = Recorder<Int>().subscribe(to: cache.get("a")) { [pressure] event in
      if case .next = event { pressure.next(.critical) }
    }

    pressure.next(.warning)
    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(base.count == 0)
  }
}
