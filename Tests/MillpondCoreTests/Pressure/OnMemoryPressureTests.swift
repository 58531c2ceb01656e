import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct OnMemoryPressureTests {
  let base = MemoryCache<String, Int>(countLimit: 5)
  let pressure = PublishSubject<MemoryPressure>()

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
    let ended = PublishSubject<Ending>()
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

  @Test func `a get completes with its value although memory pressure comes during it`() {
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

  @Test func `a value is delivered without waiting for a relief on another thread`()
    async throws
  {
    let origin = TestOrigin<String, Int>()
    let relieving = Watched(0)
    let goOn = DispatchSemaphore(value: 0)
    let cache = base.onMemoryPressure(pressure.signal) { cache, _ in
      relieving.change { $0 = 1 }
      goOn.wait()
      cache.removeAll()
      relieving.change { $0 = 2 }
    }.layered(over: origin).reusingInFlight()
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
    DispatchQueue(label: "pressure").async { [pressure] in pressure.next(.critical) }
    try await relieving.wait(for: "the relief to begin") { $0 == 1 }

    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    goOn.signal()
    try await relieving.wait(for: "the relief to end") { $0 == 2 }
    #expect(base.count == 0)
  }

  @Test func `a relief does not wait for the delivery of a value on another thread`() async throws {
    let origin = TestOrigin<String, Int>()
    let removed = DispatchSemaphore(value: 0)
    let cache = base.onMemoryPressure(pressure.signal) { cache, _ in
      cache.removeAll()
      removed.signal()
    }.layered(over: origin).reusingInFlight()
    let recorder = Recorder<Int>().subscribe(to: cache.get("a")) { [pressure] event in
      guard case .next = event else { return }
      DispatchQueue(label: "pressure").async { pressure.next(.critical) }
      removed.wait()
    }

    DispatchQueue(label: "origin").async {
      origin["a"].next(1)
      origin["a"].completed()
    }

    try await recorder.ended()
    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(base.count == 0)
  }
}
