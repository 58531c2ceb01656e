import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

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

  @Test func `a value that cannot be decoded is a miss, and the lower layer is asked`() {
    base.set("seven", for: "a")
    let lower = TestCache<String, Int>()
    lower.set(7, for: "a")

    recorder.subscribe(to: base.mapValues(decimal).layered(over: lower).get("a"))

    #expect(recorder.transcript == ["next 7", "completed"])
    #expect(base.contents == ["a": "7"])
  }

  @Test(arguments: [true, false])
  func `an origin's answer that can't be decoded fails the get`(isErased: Bool) async throws {
    struct Answer: Source {
      func get(_ key: String, _ lookup: Lookup) -> Signal<String> { .just("x") }
    }
    let now = Codec<String, Int>(encode: { "\($0)" }, decode: { _ in throw Unreadable() })
    let later = Codec<String, Int>.asynchronous(
      encode: { "\($0)" }, decode: { _ in throw Unreadable() })
    for codec in [now, later] {
      let answer =
        isErased
        ? AnyCache(Answer()).mapValues(codec).get("a") : Answer().mapValues(codec).get("a")
      let error = await #expect(throws: CacheError.self) { try await answer.valueIfAny }
      #expect("\(error!)" == "the value of the key a can't be decoded: Unreadable()")
      #expect(error?.underlying is Unreadable)
    }
  }

  @Test func `a value that can't be encoded fails, and the stored one stays`() {
    let cache = base.mapValues(decimal)
    cache.set(7, for: "a")

    let outcome = Recorder<Void>().subscribe(to: cache.set(-1, for: "a"))

    #expect(outcome.failure is Unreadable)
    #expect(base.contents == ["a": "7"])
  }

  @Test(arguments: [true, false])
  func `an answer that can't be encoded leaves no older value, unless a write came since`(
    isAtOnce: Bool
  ) async throws {
    let later = Codec<String, Int>.asynchronous(
      encode: { _ in throw Unreadable() }, decode: { _ in throw Unreadable() })
    let cache = base.mapValues(isAtOnce ? decimal : later)
    let early = FillToken(isReload: true)
    base.set("1", for: "a")
    base.set("2", for: "b")

    let fills = [("a", FillToken(isReload: true)), ("b", early)].map { key, token in
      Recorder<Void>().subscribe(to: cache.apply(.fill(key, Stamped(-1), token)))
    }
    for fill in fills { try await fill.ended() }

    #expect(fills.allSatisfy { $0.failure is Unreadable })
    #expect(base.contents == ["b": "2"])
  }

  @Test func `another time to live that can't be encoded leaves the value`() {
    let isBroken = Locked(false)
    let cache = base.mapValues(
      encode: { (number: Int) in
        if isBroken.withLock({ $0 }) { throw Unreadable() }
        return String(number)
      }, decode: { Int($0) ?? 0 })
    cache.set(1, for: "a")
    isBroken.withLock { $0 = true }

    let renewals = [
      cache.setTimeToLive(.after(.seconds(9)), for: "a").map { _ in () },
      // As an origin confirms the value to a reload.
      cache.apply(.fill("a", Stamped(1), FillToken(isReload: true).ofRenewal())),
    ].map { Recorder<Void>().subscribe(to: $0) }

    #expect(renewals.allSatisfy { $0.failure is Unreadable })
    #expect(base.contents == ["a": "1"])
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

  /// A codec that encodes when the test permits it.
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

  @Test func `a removal does not wait for what is being encoded, and wins over it`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    base.set("n1", for: "a")
    let first = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    try await source.subscriptions(count: 1)

    #expect(Recorder<Void>().subscribe(to: cache.remove("a")).isCompleted)
    #expect(base.contents == [:])
    #expect(try await cache.get("a").valueIfAny == nil)
    source.next("n")
    try await first.ended()

    #expect(base.contents == [:])
  }

  @Test func `of two sets the later one wins, though it is encoded first`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    let first = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    try await source.subscriptions(count: 1)
    let second = Recorder<Void>().subscribe(to: cache.set(8, for: "a"))
    try await source.subscriptions(count: 2)
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))

    source.runs[1].next("n")
    try await second.ended()
    try await recorder.ended()
    #expect(recorder.values == [8])

    source.runs[0].next("n")
    try await first.ended()
    #expect(base.contents == ["a": "n8"])
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

  @Test func `clearing waits for nothing, and wins over what is being encoded`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    let before = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    try await source.subscriptions(count: 1)
    #expect(Recorder<Void>().subscribe(to: cache.removeAll()).isCompleted)
    let after = Recorder<Void>().subscribe(to: cache.set(9, for: "b"))
    try await source.subscriptions(count: 2)
    #expect(try await cache.get("a").valueIfAny == nil)

    source.next("m")
    try await before.ended()
    try await after.ended()

    #expect(base.contents == ["b": "m9"])
  }

  @Test func `if the later set can't be encoded, a get waits for the earlier one`() async throws {
    let source = TestSource<String>()
    let cache = base.mapValues(held(by: source))
    let first = Recorder<Void>().subscribe(to: cache.set(7, for: "a"))
    try await source.subscriptions(count: 1)
    let second = Recorder<Void>().subscribe(to: cache.set(8, for: "a"))
    try await source.subscriptions(count: 2)
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))

    source.runs[1].failed(MappedTests.Unreadable())
    try await second.ended()
    #expect(recorder.transcript == [])
    source.runs[0].next("n")
    try await first.ended()

    try await recorder.ended()
    #expect(recorder.values == [7])
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
