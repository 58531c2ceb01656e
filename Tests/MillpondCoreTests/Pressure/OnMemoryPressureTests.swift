import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct OnMemoryPressureTests {
  let base = MemoryCache<String, Int>(countLimit: 5)
  let pressure = PublishSubject<MemoryPressure>()

  @Test func `a cache under critical pressure is emptied`() {
    let cache = base.onMemoryPressure(pressure.signal)
    cache.set(1, for: "a")

    pressure.next(.critical)

    #expect(base.count == 0)
    cache.set(2, for: "a")
    #expect(cache.now("a", Lookup()) == 2)
  }

  @Test func `the relief may depend on the level`() {
    let cache = base.onMemoryPressure(pressure.signal) { cache, pressure in
      if pressure == .critical { cache.removeAll() }
    }
    cache.set(1, for: "a")

    pressure.next(.warning)
    #expect(base.count == 1)
    pressure.next(.critical)
    #expect(base.count == 0)
  }

  @Test func `a relieved cache in a composition is relieved, and the layers below it are not`() {
    let below = MemoryCache<String, Int>(countLimit: 5)
    let cache = base.onMemoryPressure(pressure.signal).layered(over: below)
    cache.set(1, for: "a")

    pressure.next(.critical)

    #expect(base.count == 0)
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [1])
  }

  @Test func `a relieved cache still takes signals`() {
    let cache = base.onMemoryPressure(pressure.signal)
    cache["a"] = .just(1)

    let recorder = Recorder<Int>().subscribe(to: cache["a"] ?? .empty)

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a signal of pressure that fails ends the relief`() {
    base.onMemoryPressure(pressure.signal)
    base.set(1, for: "a")

    pressure.failed(CacheError.miss)
    pressure.next(.critical)

    #expect(base.count == 1)
  }

  @Test func `a cache listens for as long as it exists`() {
    let endings = Recorder<Ending>()
    let ended = PublishSubject<Ending>()
    endings.subscribe(to: ended.signal)
    weak var released: MemoryCache<String, Int>?
    do {
      let cache = MemoryCache<String, Int>(countLimit: 5)
        .onMemoryPressure(pressure.signal.onEnd { ended.next($0) })
      cache.set(1, for: "a")
      pressure.next(.warning)
      #expect(cache.count == 0)
      released = cache
    }

    #expect(released == nil)
    #expect(endings.values.count == 1)
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
