import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FunctionSourceTests {
  typealias Numbers = FunctionSource<String, Int>
  typealias Handler = @Sendable (Result<Int, any Error>) -> Void

  struct Trouble: Error {}

  /// A callback API under the test's control.
  let handlers = Locked<[Handler]>([])
  let recorder = Recorder<Int>()

  private var callback: Numbers {
    .callback { _, answer in handlers.withLock { $0.append(answer) } }
  }

  private func handler() throws -> Handler {
    try #require(handlers.withLock { $0.last })
  }

  // MARK: Signals, asynchronous and synchronous functions

  @Test func `a closure that awaits makes a source by itself`() async throws {
    @Sendable func twice(_ number: Int) async throws -> Int { number * 2 }
    let cache = MemoryCache<Int, Int>(countLimit: 1)
      .layered(over: FunctionSource { id in try await twice(id) })
    let informed = FunctionSource { (id: Int, lookup: Lookup) in
      lookup.priority == .high ? try await twice(id) : id
    }

    #expect(try await cache.get(2).value == 4)
    #expect(try await informed.get(2, priority: .high).value == 4)
  }

  @Test func `a function is called for each subscription, and for none before`() {
    let calls = Locked(0)
    let count: @Sendable () -> Int = {
      calls.withLock { count in
        count += 1
        return count
      }
    }
    let sources: [Numbers] = [
      .signal { _ in .just(count()) }, .signal { _, _ in .just(count()) }, .sync { _ in count() },
      .callback { _, answer in answer(.success(count())) },
    ]
    for (place, source) in sources.enumerated() {
      let get = source.get("a", Lookup())
      #expect(calls.withLock { $0 } == 2 * place)

      #expect(
        Recorder<Int>().subscribe(to: get).transcript == ["next \(2 * place + 1)", "completed"])
      #expect(Recorder<Int>().subscribe(to: get).values == [2 * place + 2])
    }
  }

  @Test func `an empty signal is a miss, and leaving disposes of a signal`() {
    let origin = TestSource<Int>()
    let source = Numbers.signal { key in key == "none" ? .empty : origin.signal }

    #expect(recorder.subscribe(to: source.get("none")).transcript == ["completed"])
    let leaver = Recorder<Int>().subscribe(to: source.get("a"))
    leaver.dispose()

    #expect(origin.disposals == 1)
  }

  @Test func `an asynchronous function answers, fails with its error, and is cancelled`()
    async throws
  {
    let origin = CallbackSource<Int>()
    let source = Numbers { key in
      if key == "bad" { throw Trouble() }
      return key == "slow" ? try await origin.value() : key.count
    }

    #expect(try await source.get("abc").value == 3)
    await #expect(throws: Trouble.self) { try await source.get("bad").value }
    let leaver = Recorder<Int>().subscribe(to: source.get("slow"))
    try await origin.subscriptions(count: 1)
    leaver.dispose()

    try await origin.cancellations(count: 1)
  }

  @Test func `a synchronous function answers inside the call, and fails with its error`() {
    let source = Numbers.sync { key in
      guard let number = Int(key) else { throw Trouble() }
      return number
    }

    #expect(recorder.subscribe(to: source.get("7")).transcript == ["next 7", "completed"])
    #expect(Recorder<Int>().subscribe(to: source.get("x")).failure is Trouble)
  }

  @Test func `each form may have the terms of the get`() async throws {
    let sources: [FunctionSource<String, Freshness>] = [
      .signal { _, lookup in .just(lookup.freshness) },
      FunctionSource { _, lookup in lookup.freshness },
      .sync { _, lookup in lookup.freshness },
      .callback { _, lookup, answer in answer(.success(lookup.freshness)) },
    ]
    for source in sources {
      #expect(try await source.get("a", freshness: .reload).value == .reload)
    }
  }

  // MARK: Callbacks

  @Test func `a completion handler answers once: its second call is ignored`() throws {
    recorder.subscribe(to: callback.get("a"))

    try handler()(.success(1))
    try handler()(.success(2))
    try handler()(.failure(Trouble()))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a completion handler that is called while it answers answers once`() throws {
    let values = Locked<[Int]>([])
    callback.get("a").subscribe(onNext: { value in
      values.withLock { $0.append(value) }
      handlers.withLock { $0.last }?(.success(value + 1))
    })

    try handler()(.success(1))

    #expect(values.withLock { $0 } == [1])
  }

  @Test func `of a completion handler's calls on many threads one is an answer`() throws {
    for _ in 0..<50 {
      let recorder = Recorder<Int>().subscribe(to: callback.get("a"))
      let handler = try handler()

      DispatchQueue.concurrentPerform(iterations: 4) { number in handler(.success(number)) }

      #expect(recorder.values.count == 1 && recorder.isCompleted)
    }
  }

  @Test func `a failure of a completion handler arrives unchanged`() throws {
    recorder.subscribe(to: callback.get("a"))

    try handler()(.failure(Trouble()))
    try handler()(.success(1))

    #expect(recorder.failure is Trouble && recorder.values == [])
  }

  @Test func `a completion handler that is released fails the get as abandoned`() {
    recorder.subscribe(to: callback.get("a"))
    #expect(recorder.transcript == [])

    let released = handlers.withLock { handlers in
      defer { handlers = [] }
      return handlers
    }
    withExtendedLifetime(released) {}
    _ = consume released

    guard case SignalError.abandoned(let origin)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(origin?.contains("FunctionSourceTests.swift") ?? true)
  }

  @Test func `a call after the get was left reaches no observer, and nothing is stored`() throws {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    recorder.subscribe(to: memory.layered(over: callback).get("a"))

    recorder.dispose()
    try handler()(.success(1))

    #expect(recorder.transcript == [])
    #expect(memory.peek("a") == nil)
  }

  @Test func `callers that share a flight share one call`() throws {
    let cache = MemoryCache<String, Int>(countLimit: 5).layered(over: callback).reusingInFlight()
    let recorders = (0..<5).map { _ in Recorder<Int>().subscribe(to: cache.get("a")) }

    try handler()(.success(1))

    #expect(recorders.allSatisfy { $0.values == [1] })
    #expect(handlers.withLock { $0.count } == 1)
  }

  // MARK: A source

  @Test func `a function is no cache: nothing is kept, and it is not asked for kept values`() {
    let source = Numbers.sync { _ in 1 }

    #expect(Recorder<Void>().subscribe(to: AnyCache(source).set(2, for: "a")).isCompleted)
    #expect(recorder.subscribe(to: source.get("a", freshness: .cachedOnly)).values == [])
    #expect(Recorder<Int>().subscribe(to: source.get("a")).values == [1])
  }
}
