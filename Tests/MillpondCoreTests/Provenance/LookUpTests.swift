import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LookUpTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let disk = TestCache<String, Int>()
  let recorder = Recorder<Found<Int>>()

  struct Trouble: Error, CustomStringConvertible {
    var description: String { "trouble" }
  }

  var memory: MemoryCache<String, Int> { MemoryCache(countLimit: 10, clock: clock) }

  var found: Found<Int>? { recorder.values.last }

  @Test func `every layer says what it had and how long it took`() {
    let cache = memory.named("memory")
      .layered(over: disk.named("disk").layered(over: origin.named("network")))
    recorder.subscribe(to: cache.lookUp("a", clock: clock))

    clock.advance(by: .milliseconds(212))
    origin["a"].next(1)

    #expect(found?.value == 1)
    #expect(
      found?.provenance.description
        == "memory: miss 0 ns; disk: miss 0 ns; network: hit 212 ms, 0 ns old")
    #expect(found?.provenance.origin == "network")
  }

  @Test func `layers without a name have that of their type`() {
    let cache = memory.layered(over: disk.mapKeys { $0 }.layered(over: origin.limited(to: 2)))
    recorder.subscribe(to: cache.lookUp("a", clock: clock))
    origin["a"].completed()

    #expect(found?.provenance.steps.map(\.layer) == ["MemoryCache", "TestCache", "TestOrigin"])
  }

  @Test func `a single layer is a layer too`() {
    disk.set(1, for: "a")

    recorder.subscribe(to: disk.lookUp("a", clock: clock))

    #expect(found?.provenance.description == "TestCache: hit 0 ns, 0 ns old")
  }

  @Test func `a miss is an answer with a provenance and no value`() {
    recorder.subscribe(to: memory.layered(over: disk).lookUp("a", clock: clock))

    #expect(recorder.isCompleted && recorder.values.count == 1)
    #expect(found?.value == nil && found?.age == nil)
    #expect(found?.provenance.steps.count == 2)
  }

  @Test func `a failure carries what every layer said`() throws {
    disk.failGets(of: "a", with: Trouble())
    recorder.subscribe(to: memory.layered(over: disk.layered(over: origin)).lookUp("a"))

    origin["a"].failed(Trouble())

    guard case CacheError.failed(let provenance, let underlying)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(underlying is Trouble)
    #expect(provenance.steps.map(\.layer) == ["MemoryCache", "TestCache", "TestOrigin"])
    #expect(provenance.description.contains("TestCache: failed"))
  }

  @Test func `a value that is too old is distinguished from none`() {
    let memory = memory
    memory.set(1, for: "a")
    clock.advance(by: .seconds(40))

    recorder.subscribe(to: memory.lookUp("a", freshness: .atMost(.seconds(10)), clock: clock))

    #expect(found?.provenance.description == "MemoryCache: too old (40 s) 0 ns")
  }

  @Test(arguments: [true, false])
  func `a value in memory that is too old is distinguished from none, over another layer, too`(
    isNamed: Bool
  ) {
    let memory = memory
    memory.set(1, for: "a")
    clock.advance(by: .seconds(40))
    let cache =
      isNamed
      ? AnyCache(memory.named("MemoryCache").layered(over: disk))
      : AnyCache(memory.layered(over: disk))

    recorder.subscribe(to: cache.lookUp("a", freshness: .atMost(.seconds(10)), clock: clock))

    #expect(
      found?.provenance.description
        == "MemoryCache: too old (40 s) 0 ns; TestCache: miss 0 ns")
  }

  @Test(arguments: [true, false])
  func `a value in memory that can't be decoded is no hit of it, over another layer, too`(
    isNamed: Bool
  ) {
    let texts = MemoryCache<String, String>(countLimit: 10)
    texts.set("one", for: "a")
    let codec = Codec<String, Int>(
      encode: { "\($0)" },
      decode: { text in
        guard let number = Int(text) else { throw Trouble() }
        return number
      })
    let below = EmptyCache<String, String>()
    let numbers =
      isNamed
      ? AnyCache(texts.named("MemoryCache").layered(over: below).mapValues(codec))
      : AnyCache(texts.layered(over: below).mapValues(codec))

    recorder.subscribe(to: numbers.lookUp("a", clock: clock))

    #expect(found?.provenance.description == "MemoryCache: undecodable, trouble 0 ns")
  }

  @Test(arguments: [true, false])
  func `a value that can't be decoded is no hit of a layer that has its name below the codec`(
    isInTask: Bool
  ) async throws {
    let texts = MemoryCache<String, String>(countLimit: 10)
    texts.set("one", for: "a")
    texts.set("2", for: "b")
    let decode = { @Sendable (text: String) throws -> Int in
      guard let number = Int(text) else { throw Trouble() }
      return number
    }
    let codec: Codec<String, Int> =
      isInTask
      ? .asynchronous(encode: { "\($0)" }, decode: { try decode($0) })
      : Codec(encode: { "\($0)" }, decode: decode)
    let monitor = CacheMonitor()
    let numbers = texts.named("memory").mapValues(codec).monitored(by: monitor)

    for key in ["a", "b", "c"] { _ = try await numbers.get(key).valueIfAny }

    let counted = try #require(monitor.statistics["memory"])
    #expect(counted.undecodable == 1 && counted.hits == 1 && counted.misses == 2)
  }

  @Test func `a value that can't be decoded in a task is distinguished from none, with the reason`()
    async throws
  {
    let texts = TestCache<String, String>()
    texts.set("one", for: "a")
    let numbers = texts.mapValues(
      Codec<String, Int>.asynchronous(encode: { "\($0)" }, decode: { _ in throw Trouble() }))
    let found = try await numbers.named("disk").lookUp("a", clock: clock).value

    #expect(found.provenance.steps.first?.description == "disk: undecodable, trouble 0 ns")
    #expect(found.value == nil)
  }

  @Test func `a value that can't be decoded is distinguished from none, with the reason`() {
    let texts = TestCache<String, String>()
    texts.set("one", for: "a")
    let numbers = texts.mapValues(
      Codec<String, Int>(
        encode: { "\($0)" },
        decode: { text in
          guard let number = Int(text) else { throw Trouble() }
          return number
        }))

    recorder.subscribe(to: numbers.named("disk").layered(over: origin).lookUp("a", clock: clock))
    origin["a"].next(1)

    #expect(
      found?.provenance.steps.first?.description == "disk: undecodable, trouble 0 ns")
    #expect(found?.value == 1)
  }

  @Test func `a joiner learns the age of the flight, and sees the events from then on`() {
    let cache = memory.layered(over: disk.layered(over: origin.named("network")))
      .reusingInFlight(clock: clock)
    let first = Recorder<Int>().subscribe(to: cache.get("a"))
    clock.advance(by: .milliseconds(212))

    recorder.subscribe(to: cache.lookUp("a", clock: clock))
    origin["a"].next(1)

    #expect(first.values == [1])
    #expect(
      found?.provenance.description
        == "in flight: joined a flight of 212 ms; network: hit 212 ms, 0 ns old")
  }

  @Test func `AnyCache passes on the topology and the reports of its layers`() {
    let cache = AnyCache(AnyCache(memory.named("memory")).layered(over: AnyCache(disk)))

    recorder.subscribe(to: cache.lookUp("a", clock: clock))

    #expect(found?.provenance.steps.map(\.layer) == ["memory", "TestCache"])
  }

  @Test func `a deadline ends a lookup as it ends a get`() {
    recorder.subscribe(
      to: origin.lookUp("a", deadline: .after(.seconds(1), clock: clock), clock: clock))

    clock.advance(by: .seconds(1))

    guard case CacheError.failed(_, let underlying)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(underlying is SignalError)
    #expect(origin["a"].activeRuns == 0)
  }

  @Test func `a lookup of stored values only does not ask the origin`() {
    recorder.subscribe(to: memory.layered(over: origin).lookUp("a", freshness: .cachedOnly))

    #expect(found?.value == nil && recorder.isCompleted)
    #expect(origin["a"].subscriptions == 0)
  }
}
