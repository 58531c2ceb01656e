import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct AnyCacheTests {
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

  @Test func `a telling that comes late is not carried out`() {
    let cache = ofClosures()
    let log = Recorder<String>().subscribe(to: written.signal)
    let (first, second) = (Revision.next(), Revision.next())

    _ = cache.apply(.set("a", 2, second))
    let outcome = Recorder<Void>().subscribe(to: cache.apply(.set("a", 1, first)))

    #expect(log.values == ["set a 2"])
    #expect(outcome.isCompleted)
  }

  @Test func `a fill is set, unless the key was told something since`() {
    let cache = ofClosures()
    let log = Recorder<String>().subscribe(to: written.signal)
    let mark = FillToken()

    _ = cache.apply(.fill("a", Stamped(1), mark))
    cache.remove("a")
    _ = cache.apply(.fill("a", Stamped(2), mark))

    #expect(log.values == ["set a 1", "remove a"])
  }

  @Test func `the outcome of a telling is replayed, and disposing of it cancels nothing`() {
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

  @Test func `a source that can only be asked is told in vain, and that succeeds`() {
    let origin = TestOrigin<String, Int>()
    let cache = AnyCache(origin)

    #expect(Recorder<Void>().subscribe(to: cache.set(1, for: "a")).isCompleted)
    #expect(Recorder<Void>().subscribe(to: kept.layered(over: cache).set(1, for: "a")).isCompleted)
  }
}
