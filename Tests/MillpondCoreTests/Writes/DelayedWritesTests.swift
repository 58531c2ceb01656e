import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Layers whose writes take time, over caches whose outcomes do.
@Suite(.timeLimit(.minutes(1))) struct DelayedWritesTests {
  let memory = MemoryCache<Int, String>(countLimit: 10)
  let unending = TestSource<Void>()

  /// A cache that stores at once, and whose outcomes stay pending.
  private var base: AnyCache<Int, String> {
    let (memory, outcome) = (memory, unending.signal)
    return AnyCache(
      get: { memory.get($0) },
      set: { value, key in
        memory.set(value, for: key)
        return outcome
      },
      remove: { key in
        memory.remove(key)
        return outcome
      },
      removeAll: {
        memory.removeAll()
        return outcome
      })
  }

  private func delaying(_ base: AnyCache<Int, String>) -> AnyCache<Int, String> {
    AnyCache(base.mapValues(Codec<String, String>.asynchronous(encode: { $0 }, decode: { $0 })))
  }

  @Test func `gets and writes go on while the outcomes below are pending`() async throws {
    let cache = delaying(base)

    cache.set("one", for: 1)
    #expect(try await cache.get(1).valueIfAny == "one")
    cache.set("two", for: 1)
    #expect(try await cache.get(1).valueIfAny == "two")
    cache.remove(1)
    #expect(try await cache.get(1).valueIfAny == nil)
    cache.set("three", for: 1)
    cache.set("x", for: 2)
    #expect(try await cache.get(1).valueIfAny == "three")
    #expect(try await cache.get(2).valueIfAny == "x")
    cache.removeAll()
    #expect(try await cache.get(1).valueIfAny == nil)
    #expect(try await cache.get(2).valueIfAny == nil)
    cache.set("four", for: 1)
    #expect(try await cache.get(1).valueIfAny == "four")
  }

  @Test func `the outcome of a write is that of what is below`() async throws {
    let outcome = Recorder<Void>().subscribe(to: delaying(base).set("one", for: 1))
    try await unending.subscriptions(count: 1)
    #expect(outcome.transcript == [])

    unending.next(())
    unending.completed()

    try await outcome.ended()
    #expect(outcome.values.count == 1 && outcome.isCompleted)
  }

  /// Returns a cache whose codec gets from it.
  private func getting(
    _ ask: @escaping @Sendable (String, AnyCache<Int, String>) async throws -> Void
  ) -> AnyCache<Int, String> {
    let held = Locked<AnyCache<Int, String>?>(nil)
    let cache = AnyCache(
      memory.mapValues(
        .asynchronous(
          encode: { (text: String) in
            if let cache = held.withLock({ $0 }) { try await ask(text, cache) }
            return text
          }, decode: { $0 })))
    held.withLock { $0 = cache }
    return cache
  }

  @Test func `a codec that asks for what it encodes fails as circular`() async throws {
    let cache = getting { _, cache in _ = try await cache.get(1).valueIfAny }

    await #expect(throws: CacheError.self) { try await cache.set("x", for: 1).value }
    #expect(try await cache.get(1).valueIfAny == nil)
    try await cache.set("x", for: 2).value
    #expect(try await cache.get(2).valueIfAny == "x")
  }

  @Test func `codecs that ask for each other's keys end`() async throws {
    let met = TestSource<Void>()
    let cache = getting { [signal = met.signal] text, cache in
      _ = try await signal.value
      _ = try await cache.get(text == "one" ? 2 : 1).valueIfAny
    }
    let first = Recorder<Void>().subscribe(to: cache.set("one", for: 1))
    let second = Recorder<Void>().subscribe(to: cache.set("two", for: 2))
    try await met.subscriptions(count: 2)

    met.next(())

    try await first.ended()
    try await second.ended()
    #expect(first.failure is CacheError || second.failure is CacheError)
  }

  @Test(arguments: [1, Double.nan])
  func `a write that has arrived is not waited for, even if its key does not equal itself`(
    key: Double
  ) {
    let delayed = DelayedWrites<Double>()

    let outcome = Recorder<Void>().subscribe(
      to: delayed.write(key, .next()) { .just(.just(())) })

    #expect(outcome.isCompleted)
    #expect(Recorder<Void>().subscribe(to: delayed.allArrived()).isCompleted)
  }

  @Test func `a removal does not run the gets that wait for an earlier set`() async throws {
    let slow = TestSource<Void>()
    let cache = memory.mapValues(
      .asynchronous(
        encode: { [signal = slow.signal] (text: String) in
          _ = try await signal.value
          return text
        }, decode: { $0 }))
    cache.set("slow", for: 1)
    let lock = Locked(0)
    let get = Recorder<Int>().subscribe(
      to: cache.get(1).map { _ in 0 }.ifEmpty { .just(lock.withLock { $0 }) })
    try await slow.subscriptions(count: 1)

    // A get that went on here would wait for the lock that this thread holds.
    lock.withLock { count in
      cache.remove(1)
      count = 1
    }

    try await get.ended()
    #expect(get.values == [1])
  }

  @Test func `an answer from a later ask of the same cache does not wait for an older fill`()
    async throws
  {
    let slow = TestSource<Void>()
    let cache = memory.mapValues(
      .asynchronous(
        encode: { [signal = slow.signal] (text: String) in
          if text == "slow" { _ = try await signal.value }
          return text
        }, decode: { $0 }))
    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill(1, Stamped("slow"), FillToken())))
    try await slow.subscriptions(count: 1)

    try await cache.set("written", for: 1).value
    #expect(try await cache.get(1).value == "written")
    slow.next(())
    try await fill.ended()

    #expect(fill.values.isEmpty && memory.peek(1) == "written")
  }

  @Test func `what a preparation leaves running keeps nothing of its caller`() {
    let delayed = DelayedWrites<Int>()
    let left = Locked<WorkContext?>(nil)
    weak var caller: WorkContext?
    do {
      let context = NestedContext(within: nil)
      caller = context
      WorkContext.run(in: context) {
        delayed.write(1, .next()) {
          left.withLock { $0 = WorkContext.current }
          return .just(.just(()))
        }.subscribe()
      }
    }

    #expect(left.withLock { $0 } != nil)
    #expect(caller == nil)
  }
}
