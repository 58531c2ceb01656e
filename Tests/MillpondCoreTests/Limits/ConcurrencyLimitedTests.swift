import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ConcurrencyLimitedTests {
  let origin = TestOrigin<Int, Int>()

  struct Trouble: Error {}

  private func ask(
    _ cache: Governed<TestOrigin<Int, Int>>, _ key: Int, _ priority: Priority = .normal
  ) -> Recorder<Int> {
    Recorder<Int>().subscribe(to: cache.get(key, priority: priority))
  }

  @Test func `only so many run at once, and the next starts when one ends`() {
    let cache = origin.limited(to: 2)
    let recorders = (0..<3).map { ask(cache, $0) }
    #expect((0..<3).map { origin[$0].subscriptions } == [1, 1, 0])

    origin[0].next(1)
    #expect(origin[2].subscriptions == 0)
    origin[0].completed()

    #expect(origin[2].subscriptions == 1)
    #expect(recorders[0].transcript == ["next 1", "completed"])
  }

  @Test func `the most urgent goes first, then in order`() {
    let cache = origin.limited(to: 1)
    let asks = [(0, Priority.normal), (1, .low), (2, .normal), (3, .high), (4, .high)]
    let recorders = asks.map { ask(cache, $0.0, $0.1) }
    let expected = [0, 3, 4, 2, 1]

    for (turn, key) in expected.enumerated() {
      #expect(expected.prefix(turn + 1).allSatisfy { origin[$0].subscriptions == 1 })
      #expect(expected.dropFirst(turn + 1).allSatisfy { origin[$0].subscriptions == 0 })
      origin[key].completed()
    }
    #expect(recorders.allSatisfy { $0.isCompleted })
  }

  @Test func `gets that fail free their slots`() {
    let cache = origin.limited(to: 2)
    let recorders = (0..<10).map { ask(cache, $0) }

    for key in 0..<10 { origin[key].failed(Trouble()) }

    #expect(recorders.allSatisfy { $0.failure is Trouble })
    let last = ask(cache, 10)
    origin[10].next(1)
    #expect(last.values == [1])
  }

  @Test func `a running caller that leaves gives the slot back, and runs nothing of others`() {
    let starts = Locked<[@Sendable () -> Void]>([])
    let limiter = ConcurrencyLimiter(
      1, reserved: 0, inBackground: { start in starts.withLock { $0.append(start) } })
    let cache = origin.limited(by: limiter)
    let first = ask(cache, 0)
    _ = ask(cache, 1)

    first.dispose()

    #expect(origin[0].disposals == 1)
    #expect(origin[1].subscriptions == 0)
    for start in starts.withLock({ $0 }) { start() }
    #expect(origin[1].subscriptions == 1)
  }

  @Test func `a waiting caller that leaves is never started`() {
    let cache = origin.limited(to: 1)
    _ = ask(cache, 0)
    let waiting = ask(cache, 1)
    _ = ask(cache, 2)

    waiting.dispose()
    origin[0].completed()

    #expect(origin[1].subscriptions == 0)
    #expect(origin[2].subscriptions == 1)
  }

  /// A cache that answers at once, but for the key 0.
  private var quick: AnyCache<Int, Int> {
    AnyCache(
      get: { $0 == 0 ? origin.get(0) : .of($0) }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) })
  }

  @Test func `ten thousand that wait and end at once need no stack`() async throws {
    let cache = quick.limited(to: 1)
    let recorders = (0..<10_000).map { Recorder<Int>().subscribe(to: cache.get($0)) }

    origin[0].completed()

    for recorder in recorders { try await recorder.ended() }
  }

  @Test func `the end of a get runs one other get in its call, and the rest in the background`() {
    let background = Locked<[@Sendable () -> Void]>([])
    let slots = ConcurrencyLimiter(1, reserved: 0) { action in
      background.withLock { $0.append(action) }
    }
    let cache = quick.limited(by: slots)
    let recorders = (0..<10).map { Recorder<Int>().subscribe(to: cache.get($0)) }

    origin[0].completed()
    #expect(recorders.map(\.isCompleted) == [true, true] + Array(repeating: false, count: 8))
    #expect(background.withLock { $0.count } == 1)

    background.withLock { $0[0] }()
    #expect(recorders.allSatisfy { $0.isCompleted })
  }

  @Test func `waiters whose priority has fallen are sorted in the background`() {
    let background = Locked<[@Sendable () -> Void]>([])
    let slots = ConcurrencyLimiter(1, reserved: 0) { action in
      background.withLock { $0.append(action) }
    }
    let cache = origin.limited(by: slots)
    let shared = cache.reusingInFlight()
    let holder = Recorder<Int>().subscribe(to: cache.get(0))
    let low = (1..<1_000).map { Recorder<Int>().subscribe(to: shared.get($0, priority: .low)) }
    let raising = (1..<1_000).map { shared.get($0, priority: .high).subscribe() }
    for get in raising { get.dispose() }

    holder.dispose()
    #expect(background.withLock { $0.count } == 1)
    #expect((1..<1_000).allSatisfy { origin[$0].subscriptions == 0 })

    background.withLock { $0[0] }()
    #expect(origin[1].subscriptions == 1)
    #expect(low.count == 999)
  }

  @Test func `an immediate value needs no slot`() {
    let memory = MemoryCache<Int, Int>(countLimit: 3)
    let cache = memory.layered(over: origin).limited(to: 1)
    Recorder<Int>().subscribe(to: cache.get(0))
    memory.set(5, for: 1)

    #expect(Recorder<Int>().subscribe(to: cache.get(1)).values == [5])
  }

  @Test func `racing callers and leavers leave every slot free`() {
    let cache = origin.limited(to: 3)

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for key in 0..<300 { ask(cache, thread * 1_000 + key).dispose() }
    }

    let recorders = (5_000..<5_004).map { ask(cache, $0) }
    #expect((5_000..<5_004).map { origin[$0].subscriptions } == [1, 1, 1, 0])
    #expect(recorders.count == 4)
  }

  @Test func `an urgent caller that joins brings a waiting flight forward`() {
    let cache = origin.limited(to: 1).reusingInFlight()
    let recorders = [0, 1, 2].map { key in
      Recorder<Int>().subscribe(to: cache.get(key, priority: .low))
    }

    let urgent = Recorder<Int>().subscribe(to: cache.get(2, priority: .high))
    origin[0].completed()

    #expect(origin[1].subscriptions == 0 && origin[2].subscriptions == 1)
    origin[2].next(2)
    origin[2].completed()
    #expect(recorders[2].values == [2] && urgent.values == [2])
    #expect(origin[1].subscriptions == 1)
  }

  @Test func `a raised one goes after those of the same urgency that came before it`() {
    let cache = origin.limited(to: 1).reusingInFlight()
    let asks = [(0, Priority.normal), (1, .high), (2, .low), (3, .high)]
    let recorders = asks.map { key, priority in
      Recorder<Int>().subscribe(to: cache.get(key, priority: priority))
    }
    let urgent = Recorder<Int>().subscribe(to: cache.get(2, priority: .high))

    for (turn, key) in [0, 1, 2, 3].enumerated() {
      #expect((0..<4).map { origin[$0].subscriptions } == (0..<4).map { $0 <= turn ? 1 : 0 })
      origin[key].completed()
    }
    #expect(recorders.allSatisfy { $0.isCompleted } && urgent.isCompleted)
  }

  @Test func `when the urgent caller leaves, the flight that waits falls back`() {
    let cache = origin.limited(to: 1).reusingInFlight()
    let recorders = [(0, Priority.normal), (1, .low), (2, .normal)].map { key, priority in
      Recorder<Int>().subscribe(to: cache.get(key, priority: priority))
    }
    let urgent = Recorder<Int>().subscribe(to: cache.get(1, priority: .high))

    urgent.dispose()
    origin[0].completed()

    #expect(origin[2].subscriptions == 1 && origin[1].subscriptions == 0)
    #expect(recorders[1].transcript == [])
  }

  @Test func `work of low priority never takes the reserved slots`() {
    let cache = origin.limited(to: 3, reserved: 2)
    let low = [0, 1].map { ask(cache, $0, .low) }
    #expect((0..<2).map { origin[$0].subscriptions } == [1, 0])

    let seen = [2, 3, 4].map { ask(cache, $0) }
    #expect((2..<5).map { origin[$0].subscriptions } == [1, 1, 0])

    origin[2].completed()
    #expect(origin[4].subscriptions == 1 && origin[1].subscriptions == 0)
    for key in [3, 4] { origin[key].completed() }
    #expect(origin[1].subscriptions == 0)
    origin[0].completed()
    #expect(origin[1].subscriptions == 1)
    #expect(low[0].isCompleted && seen.allSatisfy { $0.isCompleted })
  }

  @Test func `a raise gets a reserved slot at once`() {
    let cache = origin.limited(to: 2, reserved: 1).reusingInFlight()
    let low = [0, 1].map { key in
      Recorder<Int>().subscribe(to: cache.get(key, priority: .low))
    }
    #expect(origin[1].subscriptions == 0)

    let urgent = Recorder<Int>().subscribe(to: cache.get(1))

    #expect(origin[1].subscriptions == 1)
    origin[1].next(1)
    origin[1].completed()
    #expect(low[1].values == [1] && urgent.values == [1])
  }

  @Test(arguments: [(1, 1), (2, 5), (0, 3), (-1, -1), (3, Int.max), (Int.min, Int.min)])
  func `whatever is reserved, work of low priority gets its turn`(count: Int, reserved: Int) {
    let cache = origin.limited(to: count, reserved: reserved)

    _ = ask(cache, 0, .low)

    #expect(origin[0].subscriptions == 1)
  }

  @Test func `a thousand that left a queue that does not move change nothing for the next`()
    async throws
  {
    let cache = origin.limited(to: 1)
    let first = ask(cache, 0)
    let waiting = ask(cache, 1)
    for key in 2...1_000 { ask(cache, key).dispose() }

    first.dispose()

    try await origin[1].subscriptions(count: 1)
    _ = ask(cache, 1_001)
    #expect(waiting.transcript == [])
    #expect((2...1_001).allSatisfy { origin[$0].subscriptions == 0 })
  }

  @Test func `a caller that leaves at the moment at which its turn begins gives the slot back`()
    async throws
  {
    for _ in 0..<5_000 {
      let origin = TestOrigin<Int, Int>()
      let cache = origin.limited(to: 1)
      let (running, waiting) = (ask(cache, 0), ask(cache, 1))

      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        if thread == 0 { running.dispose() } else { waiting.dispose() }
      }

      let next = ask(cache, 2)
      try await origin[2].subscriptions(count: 1)
      next.dispose()
    }
  }
}
