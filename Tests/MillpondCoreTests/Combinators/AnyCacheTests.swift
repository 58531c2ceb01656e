import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct AnyCacheTests {
  let kept = TestCache<String, Int>()
  let written = PublishSubject<String>()

  private func ofClosures() -> AnyCache<String, Int> {
    AnyCache(
      get: { kept.get($0) },
      set: { value, key in
        .deferred {
          written.next("set \(key) \(value)")
          return kept.set(value, for: key)
        }
      },
      remove: { key in
        written.next("remove \(key)")
        return kept.remove(key)
      },
      removeAll: {
        written.next("remove all")
        return kept.removeAll()
      })
  }

  @Test func `a cache of closures stores without anybody subscribing to the outcome`() {
    let cache = ofClosures()
    let log = Recorder<String>().subscribe(to: written.signal)

    cache.set(1, for: "a")
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [1])
    cache.remove("a")
    cache.removeAll()

    #expect(log.values == ["set a 1", "remove a", "remove all"])
    #expect(kept.contents == [:])
  }

  @Test func `a write that arrives late is not carried out`() {
    let cache = ofClosures()
    let log = Recorder<String>().subscribe(to: written.signal)
    let (first, second) = (Revision.next(), Revision.next())

    _ = cache.apply(.set("a", 2, second))
    let outcome = Recorder<Void>().subscribe(to: cache.apply(.set("a", 1, first)))

    #expect(log.values == ["set a 2"])
    #expect(outcome.isCompleted)
  }

  @Test func `a fill is set, unless the key was written since`() {
    let cache = ofClosures()
    let log = Recorder<String>().subscribe(to: written.signal)
    let mark = FillToken()

    _ = cache.apply(.fill("a", Stamped(1), mark))
    cache.remove("a")
    _ = cache.apply(.fill("a", Stamped(2), mark))

    #expect(log.values == ["set a 1", "remove a"])
  }

  @Test func `the outcome of a write is replayed, and disposing of it cancels nothing`() {
    let slow = TestSource<Void>()
    let cache = AnyCache<String, Int>(
      get: { _ in .empty }, set: { _, _ in slow.signal }, remove: { _ in .just(()) },
      removeAll: { .just(()) })
    let outcome = cache.set(1, for: "a")

    let leaver = Recorder<Void>().subscribe(to: outcome)
    leaver.dispose()
    #expect(slow.disposals == 0)
    slow.next(())
    slow.completed()

    #expect(Recorder<Void>().subscribe(to: outcome).isCompleted)
    #expect(slow.subscriptions == 1)
  }

  @Test func `behind erasure a hit in memory is there at once`() {
    let memory = MemoryCache<String, Int>(countLimit: 3)
    memory.set(1, for: "a")

    #expect(AnyCache(memory.layered(over: kept)).now("a", Lookup()) == 1)
  }

  @Test func `a source that only answers gets accepts writes without an effect`() {
    let origin = TestOrigin<String, Int>()
    let cache = AnyCache(origin)

    #expect(Recorder<Void>().subscribe(to: cache.set(1, for: "a")).isCompleted)
    #expect(Recorder<Void>().subscribe(to: kept.layered(over: cache).set(1, for: "a")).isCompleted)
  }

  // MARK: Closures left out

  private func write(_ outcome: Signal<Void>) -> String {
    let recorder = Recorder<Void>().subscribe(to: outcome)
    if case CacheError.unsupported(let layer, let write)? = recorder.failure {
      return "\(layer): \(write)"
    }
    return recorder.values.isEmpty ? "nothing" : "done"
  }

  @Test func `without closures for writes it is a source, whose writes succeed and keep nothing`() {
    let origin = TestOrigin<String, Int>()
    let cache = AnyCache(get: { origin.get($0) })

    #expect(write(cache.set(1, for: "a")) == "done")
    #expect(write(cache.remove("a")) == "done")
    #expect(write(cache.removeAll()) == "done")
    #expect(write(cache.apply(.fill("a", Stamped(1), .any))) == "nothing")

    let cached = Recorder<Int>().subscribe(to: cache.get("a", freshness: .cachedOnly))
    #expect(cached.transcript == ["completed"] && origin["a"].subscriptions == 0)
    let reloaded = Recorder<Int>().subscribe(to: cache.get("a", freshness: .reload))
    origin["a"].next(2)
    #expect(reloaded.values == [2])
  }

  @Test func `without a closure for sets, a set removes the key, and fills are refused`() {
    kept.set(1, for: "a")
    let cache = AnyCache(get: { kept.get($0) }, remove: { kept.remove($0) })

    #expect(write(cache.set(2, for: "a")) == "done")
    #expect(write(cache.apply(.fill("a", Stamped(3), .any))) == "nothing")

    #expect(kept.contents == [:])
  }

  @Test func `a write that would leave the stored value fails, and names what is missing`() {
    let cache = AnyCache(get: { kept.get($0) }, set: { kept.set($0, for: $1) })
    cache.set(1, for: "a")

    #expect(write(cache.remove("a")) == "AnyCache: remove without a closure for it")
    #expect(write(cache.removeAll()) == "AnyCache: removeAll without a closure for it")
    let emptied = AnyCache(get: { kept.get($0) }, removeAll: { kept.removeAll() })
    #expect(write(emptied.set(2, for: "a")) == "AnyCache: set without a closure for it")
    #expect(kept.contents == ["a": 1])
  }

  @Test(arguments: [Freshness.any, .reload, .cachedOnly, .atMost(.seconds(1))])
  func `a get has its terms`(freshness: Freshness) {
    let seen = PublishSubject<Freshness>()
    let log = Recorder<Freshness>().subscribe(to: seen.signal)
    let cache = AnyCache<String, Int>(
      get: { _, lookup in
        seen.next(lookup.freshness)
        return .just(1)
      }, set: { _, _ in .just(()) })

    let recorder = Recorder<Int>().subscribe(to: cache.get("a", freshness: freshness))

    #expect(log.values == [freshness] && recorder.values == [1])
  }

  @Test func `without its terms a get answers no reload of a cache`() {
    kept.set(1, for: "a")
    let recorder = Recorder<Int>().subscribe(to: ofClosures().get("a", freshness: .reload))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `an older removal of everything leaves what was set later`() {
    let kept = TestCache<Int, String>()
    let cache = AnyCache<Int, String>(
      get: { kept.get($0) }, set: { kept.set($0, for: $1) }, remove: { kept.remove($0) },
      removeAll: { kept.removeAll() },
      removeMatching: { isRemoved in kept.removeAll { isRemoved($0) } })
    kept.set("earlier", for: 2)
    let early = Revision.next()
    cache.set("later", for: 1)

    _ = cache.apply(.removeAll(early))

    #expect(kept.contents == [1: "later"])
  }

  @Test func `a get waits for a write that another thread has to carry out`() async throws {
    let kept = TestCache<String, Int>()
    kept.set(1, for: "b")
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let cache = AnyCache<String, Int>(
      get: { kept.get($0) },
      set: { value, key in
        if key == "slow" {
          hasBegun.signal()
          mayEnd.wait()
        }
        return kept.set(value, for: key)
      },
      remove: { kept.remove($0) }, removeAll: { kept.removeAll() })
    DispatchQueue(label: "writer").async { cache.set(1, for: "slow") }
    #expect(hasBegun.wait(timeout: .now() + 30) == .success)

    // No write waits yet, so that a get is answered at once.
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).transcript == ["completed"])
    cache.set(2, for: "a")
    let present = Recorder<Int>().subscribe(to: cache.get("a"))
    cache.remove("b")
    let removed = Recorder<Int>().subscribe(to: cache.get("b"))
    #expect(present.transcript.isEmpty && removed.transcript.isEmpty)
    mayEnd.signal()

    for recorder in [present, removed] { try await recorder.ended() }
    #expect(present.values == [2] && present.isCompleted)
    #expect(removed.values.isEmpty && removed.isCompleted)
  }

  @Test func `a closure that writes and gets on its own thread gets what it has written`()
    async throws
  {
    let kept = TestCache<String, Int>()
    let (itself, inside) = (Locked<AnyCache<String, Int>?>(nil), Recorder<Int>())
    let cache = AnyCache<String, Int>(
      get: { kept.get($0) },
      set: { value, key in
        if key == "outer", let cache = itself.withLock({ $0 }) {
          cache.set(value, for: "inner")
          inside.subscribe(to: cache.get("inner"))
        }
        return kept.set(value, for: key)
      },
      remove: { kept.remove($0) }, removeAll: { kept.removeAll() })
    itself.withLock { $0 = cache }

    cache.set(3, for: "outer")

    try await inside.ended()
    #expect(inside.values == [3] && inside.isCompleted)
    #expect(kept.contents == ["inner": 3, "outer": 3])
    itself.withLock { $0 = nil }
  }

  @Test func `a set under a user's lock calls no observer of another get`() async throws {
    let (lock, hasBegun, mayEnd) = (
      DispatchSemaphore(value: 1), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let stored = Locked<[Int: Int]>([:])
    let cache = AnyCache<Int, Int>(
      get: { key in stored.withLock { $0[key] }.map { .just($0) } ?? .empty },
      set: { value, key in
        if key == 1 {
          hasBegun.signal()
          mayEnd.wait()
        }
        stored.withLock { $0[key] = value }
        return .just(())
      })
    let done = Watched(0)

    DispatchQueue(label: "holding").async {
      lock.wait()
      cache.set(1, for: 1)
      lock.signal()
      done.change { $0 += 1 }
    }
    DispatchQueue(label: "asking").async {
      hasBegun.wait()
      cache.set(2, for: 2)
      cache.get(2).subscribe(onNext: { value in
        lock.wait()
        lock.signal()
        done.change { $0 += value }
      })
      mayEnd.signal()
    }

    try await done.wait(for: "the set and the get") { $0 == 3 }
  }

  @Test func `an erased origin has nothing stored, also immediately`() {
    let erased = AnyCache(MemoryCache<Int, Int>(countLimit: 2).mapValues { $0 + 1 })

    _ = erased
    #expect(AnyCache(SourceGetTests.Computed()).now("a", freshness: .cachedOnly) == nil)
  }
}
