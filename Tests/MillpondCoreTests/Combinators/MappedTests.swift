import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MappedTests {
  let base = TestCache<String, String>()
  let recorder = Recorder<Int>()

  struct Unreadable: Error {}

  let decimal = Codec<String, Int>(
    encode: { number in
      guard number >= 0 else { throw Unreadable() }
      return String(number)
    },
    decode: { text in
      guard let number = Int(text) else { throw Unreadable() }
      return number
    })

  @Test func `keys are turned into the base's, both ways`() {
    let cache = base.mapKeys { (number: Int) in "n\(number)" }

    cache.set("x", for: 1)
    #expect(base.contents == ["n1": "x"])
    #expect(Recorder<String>().subscribe(to: cache.get(1)).values == ["x"])

    cache.remove(1)
    #expect(base.contents == [:])
  }

  @Test func `values are kept encoded and answered decoded`() {
    let cache = base.mapValues(decimal)

    cache.set(7, for: "a")

    #expect(base.contents == ["a": "7"])
    #expect(recorder.subscribe(to: cache.get("a")).values == [7])
  }

  @Test func `I17 what can't be decoded is a miss, and the lower layer is asked`() {
    base.set("seven", for: "a")
    let lower = TestCache<String, Int>()
    lower.set(7, for: "a")

    recorder.subscribe(to: base.mapValues(decimal).layered(over: lower).get("a"))

    #expect(recorder.transcript == ["next 7", "completed"])
    #expect(base.contents == ["a": "7"])
  }

  @Test func `what can't be encoded fails, and what was kept stays`() {
    let cache = base.mapValues(decimal)
    cache.set(7, for: "a")

    let outcome = Recorder<Void>().subscribe(to: cache.set(-1, for: "a"))

    #expect(outcome.failure is Unreadable)
    #expect(base.contents == ["a": "7"])
  }

  @Test func `a hit in memory stays a hit at once behind both projections`() {
    let memory = MemoryCache<String, String>(countLimit: 3)
    let cache = memory.mapKeys { (number: Int) in "n\(number)" }.mapValues(decimal)
    cache.set(7, for: 1)

    #expect(cache.now(1, Lookup()) == 7)
  }

  @Test func `an undecodable value in memory is not there at once`() {
    let memory = MemoryCache<String, String>(countLimit: 3)
    memory.set("seven", for: "a")

    #expect(memory.mapValues(decimal).now("a", Lookup()) == nil)
  }

  @Test func `a value keeps its age through the codec`() {
    _ = base.apply(.fill("a", Stamped("7", age: .seconds(5)), .any))

    let stamped = Recorder<Stamped<Int>>().subscribe(
      to: base.mapValues(decimal).getStamped("a", Lookup()))

    #expect(stamped.values == [Stamped(7, age: .seconds(5))])
  }
}

@Suite struct AsynchronousCodecTests {
  let base = TestCache<String, String>()

  /// Encodes when the test says so.
  private func held(by source: TestSource<String>) -> Codec<String, Int> {
    .asynchronous(
      encode: { number in try await source.signal.value + String(number) },
      decode: { text in Int(text.drop { !$0.isNumber }) ?? -1 })
  }

  @Test func `a set is visible to gets that are asked after it, though it is still encoding`()
    async throws
  {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    let outcome = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    try await source.subscriptions(count: 1)

    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
    #expect(recorder.transcript == [] && outcome.transcript == [])
    source.next("n")

    try await recorder.ended()
    #expect(recorder.transcript == ["next 7", "completed"])
  }

  @Test func `tellings of one key keep their order`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    let first = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    let second = Recorder<Void>().subscribe(to: cache.remove("a"))
    try await source.subscriptions(count: 1)
    #expect(second.transcript == [])

    source.next("n")
    try await first.ended()
    try await second.ended()

    #expect(base.contents == [:])
  }

  @Test func `another key does not wait`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    cache.set(7, for: "a")
    try await source.subscriptions(count: 1)
    base.set("n8", for: "b")

    let recorder = Recorder<Int>().subscribe(to: cache.get("b"))

    try await recorder.ended()
    #expect(recorder.values == [8])
    source.next("n")
  }

  @Test func `clearing waits for what is on its way, and what comes after waits for it`()
    async throws
  {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    cache.set(7, for: "a")
    try await source.subscriptions(count: 1)
    let cleared = Recorder<Void>().subscribe(to: cache.removeAll())
    let after = Recorder<Void>().subscribe(to: cache.set(9, for: "b"))
    #expect(cleared.transcript == [])

    source.next("n")
    try await source.subscriptions(count: 2)
    source.next("m")
    try await cleared.ended()
    try await after.ended()

    #expect(base.contents == ["b": "m9"])
  }

  @Test func `an encoding that fails fails its set, and the next one is carried out`() async throws
  {
    let codec = Codec<String, Int>.asynchronous(
      encode: { number in
        if number < 0 { throw MappedTests.Unreadable() }
        return "n\(number)"
      }, decode: { _ in 0 })
    let cache = base.mapValues(codec)

    let failed = Recorder<Void>().subscribe(to: cache.set(-1, for: "a"))
    let done = Recorder<Void>().subscribe(to: cache.set(2, for: "a"))
    try await failed.ended()
    try await done.ended()

    #expect(failed.failure is MappedTests.Unreadable)
    #expect(base.contents == ["a": "n2"])
  }
}
