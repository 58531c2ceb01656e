import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MemoryCacheSignalsTests {
  let clock = ManualClock()
  let cache: MemoryCache<String, Int>
  let source = TestSource<Int>()

  struct Trouble: Error {}

  init() {
    cache = MemoryCache(countLimit: 10, clock: clock)
  }

  private func subscribe(_ key: String = "a") -> Recorder<Int> {
    Recorder<Int>().subscribe(to: cache[key] ?? .fail(Trouble()))
  }

  // MARK: Entries

  @Test func `a key without an entry has no signal`() {
    #expect(cache["a"] == nil)
    #expect(cache.statistics.misses == 1)
  }

  @Test func `an assigned signal runs from its first subscription, once for all subscribers`() {
    cache["a"] = source.signal
    #expect(source.subscriptions == 0)

    let recorders = (0..<3).map { _ in subscribe() }
    #expect(source.subscriptions == 1)
    source.next(1)
    source.completed()

    #expect(recorders.allSatisfy { $0.transcript == ["next 1", "completed"] })
    #expect(cache.peek("a") == 1)
    #expect(subscribe().transcript == ["next 1", "completed"])
    #expect(source.subscriptions == 1)
  }

  @Test func `a signal that is assigned to a key that does not equal itself is not kept`() {
    let cache = MemoryCache<Double, Int>(countLimit: 10, clock: clock)

    cache[.nan] = source.signal

    #expect(cache.flights.isEmpty)
  }

  @Test func `an entry is followed to its end, also after its first value`() {
    cache["a"] = source.signal
    _ = subscribe()
    source.next(1)
    #expect(cache.count == 0)

    let late = subscribe()
    let get = Recorder<Int>().subscribe(to: cache.get("a"))
    source.next(2)
    source.completed()

    #expect(late.transcript == ["next 1", "next 2", "completed"])
    #expect(get.transcript == ["next 1", "next 2", "completed"])
    #expect(cache.peek("a") == 2)
  }

  @Test(arguments: [true, false])
  func `a failure or an empty end leaves nothing`(isFailure: Bool) {
    cache["a"] = source.signal
    let recorder = subscribe()
    if isFailure { source.next(1) }

    isFailure ? source.failed(Trouble()) : source.completed()

    #expect(recorder.end != nil)
    #expect(cache["a"] == nil)
    #expect(cache.count == 0)
  }

  @Test func `nil removes the entry, and its present subscribers stay`() {
    cache["a"] = source.signal
    let recorder = subscribe()

    cache["a"] = nil
    #expect(cache["a"] == nil)
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
    #expect(cache["a"] == nil)
  }

  @Test func `the last subscriber that leaves cancels the run and removes the entry`() {
    cache["a"] = source.signal
    let recorders = [subscribe(), subscribe()]

    recorders[0].dispose()
    #expect(source.disposals == 0)
    recorders[1].dispose()

    #expect(source.disposals == 1)
    #expect(cache["a"] == nil)
    source.next(1)
    source.completed()
    #expect(cache.count == 0)
  }

  @Test func `an entry that was started runs to its end without its subscribers`() {
    cache["a"] = source.signal
    cache["a"]?.subscribe()
    subscribe().dispose()

    source.next(1)
    source.completed()

    #expect(cache.peek("a") == 1)
  }

  @Test func `a new entry replaces the value and the former entry`() {
    let second = TestSource<Int>()
    cache.set(1, for: "a")
    cache["a"] = source.signal
    #expect(cache.peek("a") == nil)
    let former = subscribe()

    cache["a"] = second.signal
    let recorder = subscribe()
    second.next(3)
    second.completed()
    source.next(2)
    source.completed()

    #expect(former.values == [2])
    #expect(recorder.values == [3])
    #expect(cache.peek("a") == 3)
  }

  @Test(arguments: ["set", "remove", "removeAll"])
  func `a later write wins over a running entry`(write: String) {
    cache["a"] = source.signal
    let recorder = subscribe()

    switch write {
    case "set": cache.set(9, for: "a")
    case "remove": cache.remove("a")
    default: cache.removeAll()
    }
    let expected = write == "set" ? 9 : nil
    #expect(cache.peek("a") == expected)
    #expect((cache["a"] != nil) == (expected != nil))
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
    #expect(cache.peek("a") == expected)
  }

  @Test func `a signal that was taken before its entry was removed completes empty`() {
    cache["a"] = source.signal
    let signal = cache["a"] ?? .never
    cache["a"] = nil

    #expect(Recorder<Int>().subscribe(to: signal).transcript == ["completed"])
    #expect(source.subscriptions == 0)
  }

  // MARK: Finding, joining and starting

  @Test func `a signal for a key is found, joined or started`() {
    let starts = Locked(0)
    let make = { @Sendable [source] () -> Signal<Int> in
      starts.withLock { $0 += 1 }
      return source.signal
    }
    let recorders = (0..<3).map { _ in
      Recorder<Int>().subscribe(to: cache.signal(for: "a", orStart: make))
    }
    #expect(starts.withLock { $0 } == 1)
    #expect(cache["a"] != nil)
    source.next(1)
    source.completed()

    let found = Recorder<Int>().subscribe(to: cache.signal(for: "a", orStart: make))
    #expect((recorders + [found]).allSatisfy { $0.values == [1] && $0.isCompleted })
    #expect(starts.withLock { $0 } == 1)
    #expect(cache.statistics.misses == 3 && cache.statistics.hits == 1)
  }

  @Test func `an assigned entry is joined instead of another start`() {
    cache["a"] = source.signal

    let recorder = Recorder<Int>().subscribe(to: cache.signal(for: "a") { .just(7) })
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
  }

  @Test func `the value of an empty start is a miss`() async {
    await #expect {
      _ = try await cache.signal(for: "a") { .empty }.value
    } throws: { error in
      if case CacheError.miss = error { true } else { false }
    }
  }

  @Test func `an entry that waits for its own key fails`() {
    let cache = cache
    let recorder = Recorder<Int>().subscribe(
      to: cache.signal(for: "a") { cache.signal(for: "a") { .just(1) } })

    guard case CacheError.circular(key: "a")? = recorder.failure else {
      Issue.record("no failure, but \(recorder.transcript)")
      return
    }
  }

  // MARK: Other ways to get

  @Test func `a get for stored values joins no entry`() {
    cache["a"] = source.signal
    _ = subscribe()
    source.next(1)

    let recorder = Recorder<Int>().subscribe(to: cache.get("a", freshness: .cachedOnly))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a layer below is not asked while an entry runs`() {
    let origin = TestOrigin<String, Int>()
    let layered = cache.layered(over: origin)
    cache["a"] = source.signal

    let recorder = Recorder<Int>().subscribe(to: layered.get("a"))
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `entries are listed with their callers`() {
    cache["a"] = source.signal
    cache["b"] = source.signal
    _ = [subscribe(), subscribe()]

    #expect(cache.flights.compactMap { $0.key as? String } == ["a", "b"])
    #expect(cache.flights.map(\.callers) == [2, 0])
  }

  // MARK: Limits

  @Test func `running entries take up no room, and their values keep the limits`() {
    let cache = MemoryCache<Int, Int>(countLimit: 1)
    let sources = (0..<3).map { _ in TestSource<Int>() }
    let recorders = sources.enumerated().map { key, source in
      Recorder<Int>().subscribe(to: cache.signal(for: key) { source.signal })
    }
    #expect(cache.count == 0)

    for source in sources {
      source.next(1)
      source.completed()
    }

    #expect(recorders.allSatisfy { $0.values == [1] })
    #expect(cache.count == 1)
  }

  @Test func `a cache that stores nothing still shares what runs`() {
    let cache = MemoryCache<String, Int>(countLimit: 0)
    let recorders = (0..<2).map { _ in
      Recorder<Int>().subscribe(to: cache.signal(for: "a") { [source] in source.signal })
    }
    source.next(1)
    source.completed()

    #expect(recorders.allSatisfy { $0.values == [1] } && source.subscriptions == 1)
    #expect(cache["a"] == nil)
  }

  @Test func `a value expires by the time at which it came`() {
    let cache = MemoryCache<String, Int>(
      countLimit: 10, timeToLive: .after(.seconds(10)), clock: clock)
    cache["a"] = source.signal
    cache["a"]?.subscribe()
    source.next(1)
    clock.advance(by: .seconds(6))
    source.completed()
    #expect(cache["a"] != nil)

    clock.advance(by: .seconds(4))

    #expect(cache["a"] == nil)
  }

  @Test func `beyond ten thousand entries an assigned signal is not kept`() {
    let cache = MemoryCache<Int, Int>(countLimit: 10)
    for key in 0..<10_001 { cache[key] = .just(key) }

    #expect(cache[9_999] != nil)
    #expect(cache[10_000] == nil)
    let alone = Recorder<Int>().subscribe(to: cache.signal(for: 10_000) { .just(5) })
    #expect(alone.values == [5])
  }

  @Test func `a cache with entries is released`() {
    weak var released: MemoryCache<String, Int>?
    let living = Locked(0)
    do {
      let cache = MemoryCache<String, Int>(countLimit: 10)
      let counted = Counted(1, living)
      released = cache
      cache["a"] = .deferred { .just(counted.number) }
      cache["b"] = source.signal
      cache["b"]?.subscribe().dispose()
    }

    #expect(released == nil)
    #expect(living.withLock { $0 } == 0)
  }

  // MARK: Threads

  @Test func `threads that assign, subscribe and remove leave what was written last`() {
    let cache = MemoryCache<Int, Int>(countLimit: 100)

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<500 {
        let key = (round * 7 + thread) % 5
        switch round % 5 {
        case 0: cache[key] = Signal.just(round).replayLast()
        case 1: cache[key]?.subscribe()
        case 2: cache.signal(for: key) { .just(round) }.subscribe()
        case 3: cache.set(round, for: key)
        default: cache[key] = nil
        }
      }
    }
    for key in 0..<5 { cache[key] = .just(-key) }

    for key in 0..<5 {
      let recorder = Recorder<Int>().subscribe(to: cache[key] ?? .empty)
      #expect(recorder.values == [-key])
      #expect(cache.peek(key) == -key)
    }
  }

  @Test func `a get that meets a waiting entry starts it`() {
    let memory = MemoryCache<Int, Int>(countLimit: 4)
    memory[1] = .just(5)

    let get = Recorder<Int>().subscribe(to: memory.get(1))

    #expect(get.values == [5] && memory.peek(1) == 5)
  }
}
