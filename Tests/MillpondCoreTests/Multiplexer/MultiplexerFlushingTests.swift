import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// What outlives the process.
@Suite struct MultiplexerFlushingTests {
  let clock = ManualClock()
  let kept = TestCache<Int, String>()
  let origin = TestOrigin<Int, String>()
  let users: MultiplexerMap<Int, String>

  init() {
    users = MultiplexerMap(
      over: origin, freshness: .ten(), persistence: Persistence(kept), clock: clock)
  }

  @Test func `what is fetched, set and removed reaches where it outlives the process`() {
    users.get(1).subscribe()
    origin[1].next("one")
    origin[1].completed()
    users.set("two", for: 2)
    users.set("three", for: 3)
    users.remove(3)

    #expect(kept.contents == [1: "one", 2: "two"])
  }

  @Test func `what is kept from an earlier run is fresh for the rest of its time only`() {
    _ = kept.apply(.fill(1, Stamped("old", age: .seconds(11)), .any))
    _ = kept.apply(.fill(2, Stamped("young", age: .seconds(1)), .any))
    let old = Recorder<String>().subscribe(to: users.get(1))
    let young = Recorder<String>().subscribe(to: users.get(2))

    origin[1].failed(Offline())

    #expect(old.values == ["old"])
    #expect(young.values == ["young"])
    #expect(origin[2].subscriptions == 0)
  }

  @Test func `R7 a flush says what can't be kept, loses nothing, and tries again`() {
    kept.failChanges(of: 1, with: Refused())
    users.get(1).subscribe()
    origin[1].next("one")
    origin[1].completed()

    let first = Recorder<Void>().subscribe(to: users.flush())
    #expect(first.failure is Refused)
    #expect(users.current(1) == "one")
    kept.failChanges(of: 1, with: nil)
    let second = Recorder<Void>().subscribe(to: users.flush())

    #expect(second.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test func `R7 a removal that failed is tried again`() {
    let isFull = Locked(true)
    let stubborn = AnyCache<Int, String>(
      get: { [kept] in kept.get($0, Lookup()) }, set: { [kept] in kept.set($0, for: $1) },
      remove: { [kept] key in
        isFull.withLock { $0 } ? .fail(Refused()) : kept.remove(key)
      },
      removeAll: { [kept] in kept.removeAll() })
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(stubborn))
    users.set("one", for: 1)
    users.remove(1)

    #expect(Recorder<Void>().subscribe(to: users.flush()).failure is Refused)
    isFull.withLock { $0 = false }
    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents.isEmpty)
  }

  @Test func `what was set since it could not be kept is what a flush keeps`() {
    kept.failChanges(of: 1, with: Refused())
    users.set("one", for: 1)
    kept.failChanges(of: 1, with: nil)
    users.set("two", for: 1)

    users.flush()

    #expect(kept.contents == [1: "two"])
  }

  @Test func `R8 what is cleared during a flush is not kept by it`() {
    kept.failChanges(of: 1, with: Refused())
    users.set("one", for: 1)
    kept.failChanges(of: 1, with: nil)

    users.removeAll()
    users.flush()

    #expect(kept.contents.isEmpty)
    #expect(users.current(1) == nil)
  }

  @Test func `a flush waits for what it is made over, and fails with it`() {
    let gate = TestSource<Void>()
    let users = MultiplexerMap<Int, String>(
      over: origin, persistence: Persistence(kept, flush: { gate.signal }))
    let flush = Recorder<Void>().subscribe(to: users.flush())
    #expect(flush.end == nil)

    gate.failed(Refused())

    #expect(flush.failure is Refused)
  }
}
