import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Faults that a review found; each test is named for one.
@Suite struct RegressionTests {
  struct Trouble: Error {}

  @Test func `a late write is not refused because of another key`() {
    let memory = MemoryCache<Int, String>(countLimit: 10_000)
    memory.set("old", for: -1)
    let late = (Revision.next(), Revision.next(), Revision.next())
    for key in 0..<5_000 { memory.set("other", for: key) }

    _ = memory.apply(.set(-2, "new", late.0))
    _ = memory.apply(.set(-1, "newer", late.1))
    #expect(memory.now(-1, Lookup()) == "newer" && memory.now(-2, Lookup()) == "new")

    _ = memory.apply(.remove(-1, late.2))
    #expect(memory.now(-1, Lookup()) == nil)
  }

  @Test func `many removals later, an older set does not come back`() {
    let memory = MemoryCache<Int, String>(countLimit: 10)
    let late = Revision.next()
    let pending = PendingWrite(late)
    for key in 0..<5_000 { memory.remove(key) }

    for key in [0, 4_999] { _ = memory.apply(.set(key, "old", late)) }
    pending.end()

    #expect(memory.count == 0)
  }

  @Test func `ten thousand writes behind one that encodes need no stack`() async throws {
    let gate = TestSource<String>()
    let base = TestCache<String, String>()
    let cache = base.mapValues(
      Codec<String, Int>.asynchronous(
        encode: { _ in try await gate.signal.value }, decode: { Int($0) ?? 0 }))
    cache.set(1, for: "k")
    try await gate.subscriptions(count: 1)
    let outcomes = (0..<10_000).map { _ in cache.remove("k") }

    gate.next("1")

    try await outcomes.last?.value
    #expect(base.contents == [:])
  }

  /// A key that gets when it is released, which deadlocks under a lock.
  final class Talkative: Hashable, Sendable {
    let name: String
    let onRelease: @Sendable () -> Void

    init(_ name: String, onRelease: @escaping @Sendable () -> Void) {
      self.name = name
      self.onRelease = onRelease
    }

    deinit {
      onRelease()
    }

    static func == (left: Talkative, right: Talkative) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) {
      hasher.combine(name)
    }
  }

  @Test(arguments: [0, 1, 2])
  func `a key that asks when it is released meets no lock of the flights`(way: Int) {
    // A source that keeps no keys, so that the table has the last references.
    let source = TestSource<Int>()
    let cache = FunctionSource<Talkative, Int>.signal { _ in source.signal }.reusingInFlight()
    let released = Locked(0)
    func ask(_ freshness: Freshness) -> Recorder<Int> {
      let key = Talkative("k") {
        Recorder<Int>().subscribe(to: cache.get(Talkative("other") {})).dispose()
        released.withLock { $0 += 1 }
      }
      return Recorder<Int>().subscribe(to: cache.get(key, freshness: freshness))
    }

    let (first, second) = (ask(.any), ask(.atMost(.seconds(1))))
    first.dispose()
    switch way {
    case 0: second.dispose()
    case 1: source.completed()
    default: cache.apply(.remove(Talkative("k") {}, .next())).subscribe()
    }
    second.dispose()

    #expect(released.withLock { $0 } == 2)
  }

  @Test func `a write inside a write of closures is carried out after it`() {
    let log = PublishSubject<String>()
    let recorder = Recorder<String>().subscribe(to: log.signal)
    let itself = PublishSubject<Int>()
    let cache = AnyCache<Int, Int>(
      get: { _ in .empty },
      set: { value, _ in
        log.next("begin \(value)")
        if value == 1 { itself.next(2) }
        log.next("end \(value)")
        return .just(())
      }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let inner = itself.signal.subscribe(onNext: { value in
      _ = cache.set(value, for: 0).subscribe()
    })

    cache.set(1, for: 0)
    inner.dispose()

    #expect(recorder.values == ["begin 1", "end 1", "begin 2", "end 2"])
  }

  @Test func `a failure after the deadline does not hide the timeout`() {
    let clock = ManualClock()
    let source = AnyCache<Int, Int>(
      get: { _ in .create { observer, lifetime in lifetime.onEnd { observer.failed(Trouble()) } } },
      set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let recorder = Recorder<Int>().subscribe(
      to: source.get(1, deadline: .after(.seconds(1), clock: clock)))

    clock.advance(by: .seconds(1))

    #expect(recorder.transcript == ["failed \(SignalError.timedOut(after: .seconds(1), key: "1"))"])
  }

  @Test func `an ask for what is cached only waits for no slot`() {
    let memory = MemoryCache<String, Int>(countLimit: 3)
    let origin = TestOrigin<String, Int>()
    let cache = memory.layered(over: origin).limited(to: 1)
    Recorder<Int>().subscribe(to: cache.get("a"))

    let recorder = Recorder<Int>().subscribe(to: cache.get("b", freshness: .cachedOnly))

    #expect(recorder.transcript == ["completed"])
  }

  /// A source that ignores the requested key.
  struct Careless: Source {
    func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> { .just(key) }
  }

  @Test func `a source that takes no notice is not asked for what is cached only`() {
    let memory = MemoryCache<Int, Int>(countLimit: 3)
    let compositions = [
      AnyCache(Careless()), AnyCache(Careless().reusingInFlight()),
      AnyCache(memory.layered(over: Careless())),
      AnyCache(memory.layered(over: AnyCache(Careless().limited(to: 1)))),
    ]
    for cache in compositions {
      let recorder = Recorder<Int>().subscribe(to: cache.get(1, freshness: .cachedOnly))
      #expect(recorder.transcript == ["completed"])
    }
    let bare = Recorder<Int>().subscribe(to: Careless().get(1, freshness: .cachedOnly))
    #expect(bare.transcript == ["completed"])
  }

  final class Witness: Sendable {}

  @Test func `a caller that left while waiting for a slot is forgotten`() {
    let origin = TestOrigin<Int, Int>()
    let cache = origin.limited(to: 1)
    Recorder<Int>().subscribe(to: cache.get(0))
    weak var witness: Witness?
    do {
      let captured = Witness()
      witness = captured
      cache.get(1).subscribe(onNext: { _ in withExtendedLifetime(captured) {} }).dispose()
    }

    #expect(witness == nil)
  }

  @Test func `an older get does not overwrite the answer of a reload`() {
    let origin = TestOrigin<Int, String>()
    let memory = MemoryCache<Int, String>(countLimit: 3)
    let cache = memory.layered(over: origin).reusingInFlight()
    let old = Recorder<String>().subscribe(to: cache.get(1))
    let new = Recorder<String>().subscribe(to: cache.get(1, freshness: .reload))

    origin[1].runs[1].next("new")
    origin[1].runs[1].completed()
    origin[1].runs[0].next("old")
    origin[1].runs[0].completed()

    #expect(old.values == ["old"] && new.values == ["new"])
    #expect(memory.now(1, Lookup()) == "new")
  }

  /// A key that changes while it is in the table.
  final class Fickle: Hashable, @unchecked Sendable {
    var number: Int

    init(_ number: Int) {
      self.number = number
    }

    static func == (left: Fickle, right: Fickle) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) {
      hasher.combine(number)
    }
  }

  @Test func `keys that change do not trap`() {
    let memory = MemoryCache<Fickle, Int>(countLimit: 50)
    let keys = (0..<100).map { Fickle($0) }
    for key in keys { memory.set(1, for: key) }
    for key in keys { key.number += 1_000 }

    for number in 0..<200 { memory.set(2, for: Fickle(number)) }

    #expect(memory.count <= 50)
  }

  @Test func `a store that looks at itself does not trap because of keys that have changed`() {
    // A small store looks at itself once in 64 insertions.
    let memory = MemoryCache<Fickle, Int>(countLimit: 20, policy: .leastRecentlyUsed)

    for number in 0..<200 {
      let key = Fickle(number)
      memory.set(1, for: key)
      // Every second one becomes equal to others.
      key.number = number.isMultiple(of: 2) ? -1 : number + 1_000
    }

    #expect(memory.count == 20)
  }

  @Test func `a key that changes before the store is divided is found and removed after it`() {
    let memory = MemoryCache<Fickle, Int>(countLimit: 10_000)
    let keys = (0..<4_096).map { Fickle($0) }
    for key in keys.dropLast() { memory.set(key.number, for: key) }
    let changed = stride(from: 0, to: 4_000, by: 100).map { keys[$0] }
    for key in changed { key.number += 100_000 }

    memory.set(4_095, for: keys[4_095])
    #expect(changed.allSatisfy { memory.peek($0) == $0.number - 100_000 })
    for key in changed { memory.remove(key) }

    #expect(memory.count == 4_096 - changed.count)
    #expect(changed.allSatisfy { memory.peek($0) == nil })
    for key in keys { memory.remove(key) }
    #expect(memory.count == 0)
    for key in keys { memory.set(key.number, for: key) }
    #expect(keys.allSatisfy { memory.peek($0) == $0.number })
  }
}
