import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@Suite struct MappedValuesTests {
  let base = TestCache<String, String>()

  /// Codecs that name the key; `slow` ones take time.
  private func codec(for key: String) -> Codec<String, Int> {
    let encode = { @Sendable (number: Int) in "\(key)\(number)" }
    let decode = { @Sendable (text: String) in Int(text.dropFirst(key.count)) ?? -1 }
    return key.hasPrefix("slow")
      ? .asynchronous(encode: { encode($0) }, decode: { decode($0) })
      : Codec(encode: encode, decode: decode)
  }

  @Test func `a codec may depend on the key`() async throws {
    let cache = base.mapValues(byKey: codec)

    cache.set(1, for: "a")
    cache.set(2, for: "b")
    try await cache.set(3, for: "slow").value

    #expect(base.contents == ["a": "a1", "b": "b2", "slow": "slow3"])
    #expect(Recorder<Int>().subscribe(to: cache.get("b")).values == [2])
    #expect(try await cache.get("slow").value == 3)
  }

  @Test func `a value that is mapped at once is immediate, beside keys that take time`() {
    let memory = MemoryCache<String, String>(countLimit: 5)
    let cache = memory.mapValues(byKey: codec)
    cache.set(1, for: "a")
    memory.set("slow2", for: "slow")

    #expect(cache.now("a", Lookup()) == 1)
    #expect(cache.now("slow", Lookup()) == nil)
  }

  @Test func `clearing waits for no key whose codec takes time, and neither do other keys`()
    async throws
  {
    let source = TestSource<String>()
    let cache = base.mapValues(byKey: { [signal = source.signal] key in
      key == "a"
        ? .asynchronous(
          encode: { try await signal.value + "\($0)" }, decode: { Int($0) ?? -1 })
        : Codec<String, Int>(encode: { "\($0)" }, decode: { Int($0) ?? -1 })
    })
    let slow = Recorder<Void>().subscribe(to: cache.set(1, for: "a"))
    try await source.subscriptions(count: 1)
    let cleared = Recorder<Void>().subscribe(to: cache.removeAll())
    let after = Recorder<Void>().subscribe(to: cache.set(2, for: "b"))
    #expect(cleared.isCompleted && after.isCompleted)

    source.next("")
    try await slow.ended()

    #expect(base.contents == ["b": "2"])
  }

  @Test func `two functions make a cache of other values`() {
    let cache = base.mapValues(encode: { "\($0)" }, decode: { Int($0) ?? -1 })

    cache.set(7, for: "a")

    #expect(base.contents == ["a": "7"])
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [7])
  }

  // MARK: Values that cannot be decoded

  struct Unreadable: Error {}

  static let unreadable: [Codec<String, Int>] = [
    Codec(encode: { "\($0)" }, decode: { _ in throw Unreadable() }),
    .asynchronous(encode: { "\($0)" }, decode: { _ in throw Unreadable() }),
  ]

  /// Codecs that read numbers only.
  static let numbers: [Codec<String, Int>] = [
    Codec(encode: { "\($0)" }, decode: { try number(in: $0) }),
    .asynchronous(encode: { "\($0)" }, decode: { try number(in: $0) }),
  ]

  private static func number(in text: String) throws -> Int {
    guard let number = Int(text) else { throw Unreadable() }
    return number
  }

  @Test(arguments: [0, 1])
  func `an undecodable value fails the get, if that is chosen`(codec: Int) async throws {
    base.set("x", for: "a")
    let codec = Self.unreadable[codec]
    let caches = [
      base.mapValues(codec, undecodable: .failure),
      base.mapValues(undecodable: .failure, byKey: { _ in codec }),
    ]

    for cache in caches {
      let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
      try await recorder.ended()
      #expect((recorder.failure as? CacheError)?.underlying is Unreadable)
      #expect(cache.now("a", Lookup()) == nil)
    }
    #expect(base.contents == ["a": "x"])
  }

  @Test func `under an undecodable value that is a failure, the lower layer is asked`() {
    base.set("x", for: "a")
    let lower = TestCache<String, Int>()
    let both = base.mapValues(
      undecodable: .failure, encode: { "\($0)" },
      decode: { text in
        guard let number = Int(text) else { throw Unreadable() }
        return number
      }
    ).layered(over: lower)

    let failed = Recorder<Int>().subscribe(to: both.get("a"))
    #expect((failed.failure as? CacheError)?.underlying is Unreadable)
    lower.set(7, for: "a")
    #expect(Recorder<Int>().subscribe(to: both.get("a")).values == [7])
    #expect(base.contents == ["a": "7"])
  }

  @Test(arguments: [0, 1])
  func `over a whole composition an undecodable stored value is replaced by the origin's answer`(
    codec: Int
  ) async throws {
    base.set("x", for: "a")
    let codec = Self.numbers[codec]
    let cache = base.layered(over: FunctionSource<String, String>.sync { _ in "7" })
      .mapValues(codec)
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
    try await recorder.ended()

    #expect(recorder.values == [7] && recorder.isCompleted)
    #expect(base.contents == ["a": "7"])
  }

  @Test(arguments: [0, 1], [Freshness.any, .atMost(.zero), .reload])
  func `over a whole composition an undecodable answer of the origin is a failure`(
    codec: Int, freshness: Freshness
  ) async throws {
    let codec = Self.numbers[codec]
    let cache = base.layered(over: FunctionSource<String, String>.sync { _ in "x" })
      .mapValues(codec)
    let recorder = Recorder<Int>().subscribe(
      to: cache.get("a", Lookup(freshness: freshness)))
    try await recorder.ended()

    #expect(recorder.values == [])
    #expect((recorder.failure as? CacheError)?.underlying is Unreadable)
  }

  @Test func `a get for stored values asks no origin about one that can't be decoded`() {
    base.set("x", for: "a")
    let origin = TestOrigin<String, String>()
    let cache = base.layered(over: origin).mapValues(Self.numbers[0])

    let stored = Recorder<Int>().subscribe(to: cache.get("a", Lookup(freshness: .cachedOnly)))
    let missing = Recorder<Int>().subscribe(to: cache.get("b"))
    origin["b"].completed()

    #expect(stored.transcript == ["completed"])
    #expect(missing.transcript == ["completed"])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test(arguments: [0, 1])
  func `an undecodable value is reported of the layer that sent it, also of an origin`(
    codec: Int
  ) async throws {
    base.set("x", for: "a")
    let codec = Self.unreadable[codec]
    let origin = FunctionSource<String, String>.sync { _ in "x" }.named("origin")
    let answers = [
      try await base.named("base").mapValues(codec, undecodable: .failure).report(of: "a"),
      try await origin.mapValues(codec).report(of: "a"),
    ]

    #expect(answers == ["base: undecodable", "origin: undecodable"])
  }

  @Test func `an origin's value that a codec can read is reported as a hit`() async throws {
    let origin = FunctionSource<String, String>.sync { _ in "7" }.named("origin")
    let cache = origin.mapValues(encode: { "\($0)" }, decode: { Int($0) ?? -1 })

    #expect(try await cache.report(of: "a") == "origin: hit")
  }

  @Test func `decoding happens once however many wait, under shared flights`() {
    let counted = Counted()
    let origin = TestOrigin<String, String>()
    let cache = origin.mapValues(counted.codec).reusingInFlight()
    let recorders = (0..<50).map { _ in Recorder<Int>().subscribe(to: cache.get("a")) }

    origin["a"].next("7")
    origin["a"].completed()

    #expect(recorders.allSatisfy { $0.values == [7] })
    #expect(counted.decodings.load(ordering: .relaxed) == 1)
  }

  /// A codec that counts.
  final class Counted: Sendable {
    let decodings = Atomic<Int>(0)

    var codec: Codec<String, Int> {
      Codec(
        encode: { String($0) },
        decode: { text in
          self.decodings.add(1, ordering: .relaxed)
          return Int(text) ?? -1
        })
    }
  }

  @Test func `a value that cannot be decoded is fetched, not confirmed by its origin`() {
    struct Damaged: Error {}
    let scene = RevalidationScene()
    _ = scene.memory.apply(
      .fill("a", Stamped(-1, validator: Validator(entityTag: "1")), FillToken()))
    let cache = scene.cache.mapValues(
      encode: { (value: Int) in value },
      decode: { (value: Int) in
        if value < 0 { throw Damaged() }
        return value
      })

    let asked = cache.ask()

    #expect(asked.values.map(\.value) == [1] && asked.failure == nil)
    #expect(scene.memory.peek("a") == 1)
  }
}

extension Source {
  /// The first event of a get of `key`, without its details.
  fileprivate func report(of key: Key) async throws -> String {
    let monitor = CacheMonitor()
    let events = Recorder<CacheEvent>().subscribe(to: monitor.events)
    let recorder = Recorder<Value>().subscribe(to: monitored(by: monitor).get(key))
    try await recorder.ended()
    return events.values.map { event in
      switch event.kind {
      case .hit: "\(event.layer): hit"
      case .undecodable: "\(event.layer): undecodable"
      default: "\(event)"
      }
    }.joined(separator: "; ")
  }
}
