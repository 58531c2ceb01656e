import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CodecTests {
  struct Unreadable: Error {}

  let decimal = Codec<String, Int>(
    encode: { String($0) },
    decode: { text in
      guard let number = Int(text) else { throw Unreadable() }
      return number
    })
  let halved = Codec<Int, Int>(encode: { $0 * 2 }, decode: { $0 / 2 })
  let slow = Codec<Int, Int>.asynchronous(encode: { $0 * 2 }, decode: { $0 / 2 })

  @Test func `a codec goes before the next one when decoding, and after it when encoding`() {
    let base = TestCache<String, String>()
    let cache = base.mapValues(decimal.then(halved))

    cache.set(7, for: "a")

    #expect(base.contents == ["a": "14"])
    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [7])
  }

  @Test func `one of two codecs that takes time makes both do`() async throws {
    let base = TestCache<String, String>()
    let cache = base.mapValues(decimal.then(slow))

    try await cache.set(7, for: "a").value

    #expect(base.contents == ["a": "14"])
    #expect(cache.now("a", Lookup()) == nil)
    #expect(try await cache.get("a").value == 7)
  }

  @Test func `a value that one of two joined codecs can't read is undecodable`() {
    let base = TestCache<String, String>()
    base.set("seven", for: "a")

    let recorder = Recorder<Int>().subscribe(to: base.mapValues(decimal.then(halved)).get("a"))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `an inverted codec encodes what the other decodes`() async throws {
    let base = TestCache<String, Int>()
    base.set(7, for: "a")

    #expect(try await base.mapValues(decimal.inverted).get("a").value == "7")
    #expect(try await base.mapValues(slow.inverted).get("a").value == 14)
  }

  @Test func `a codec can be applied by itself`() async throws {
    #expect(try await decimal.encode(7) == "7")
    #expect(try await decimal.decode("8") == 8)
    #expect(try await slow.decode(slow.encode(7)) == 7)
    await #expect(throws: Unreadable.self) { try await decimal.decode("seven") }
  }

  @Test func `a conditioned codec refuses what does not hold, before the codec is asked`()
    async throws
  {
    let asked = Locked<[String]>([])
    let logging = Codec<String, Int>(
      encode: { number in
        asked.withLock { $0.append("encode \(number)") }
        return "\(number)"
      },
      decode: { text in
        asked.withLock { $0.append("decode \(text)") }
        return Int(text) ?? -1
      })
    let base = TestCache<String, String>()
    let cache = base.mapValues(
      logging.conditioned(encoding: { $0 < 100 }, decoding: { $0.count < 3 }))
    base.set("1234", for: "long")

    cache.set(7, for: "a")
    let refused = Recorder<Void>().subscribe(to: cache.set(100, for: "a"))
    let long = Recorder<Int>().subscribe(to: cache.get("long"))

    guard case CacheError.refusedValue("Int")? = refused.failure else {
      Issue.record("\(refused.transcript)")
      return
    }
    #expect(long.transcript == ["completed"])
    #expect(base.contents == ["a": "7", "long": "1234"])
    #expect(asked.withLock { $0 } == ["encode 7"])
  }

  @Test func `an error of a codec's condition passes unchanged, also in a task`() async throws {
    let now = decimal.conditioned(encoding: { _ in throw Unreadable() })
    let later = slow.conditioned(decoding: { _ in throw Unreadable() })

    await #expect(throws: Unreadable.self) { try await now.encode(1) }
    await #expect(throws: Unreadable.self) { try await later.decode(1) }
    #expect(try await now.decode("1") == 1)
    #expect(try await later.encode(1) == 2)
  }

  /// Layers of even numbers: halves of them are whole.
  let laws = CacheLaws(keys: [0, 1, 2, 3], values: (1...12).map { $0 * 2 }) {
    TestCache<Int, Int>()
  }

  @Test(arguments: 0..<15)
  func `a codec and its inverse together change nothing`(seed: UInt64) async {
    let breach = await laws.difference(
      seed: seed, between: { a, b, _ in AnyCache(a.layered(over: b)) },
      and: { a, b, _ in AnyCache(a.mapValues(halved.inverted.then(halved)).layered(over: b)) })

    #expect(breach == nil)
  }

  @Test(arguments: 0..<15)
  func `to map values twice is to map them by the codecs' composition`(seed: UInt64) async {
    let shifted = Codec<Int, Int>(encode: { $0 + 3 }, decode: { $0 - 3 })
    let doubled = Codec<Int, Int>(encode: { $0 * 2 }, decode: { $0 / 2 })
    let breach = await laws.difference(
      seed: seed,
      between: { a, b, _ in AnyCache(a.layered(over: b).mapValues(shifted).mapValues(doubled)) },
      and: { a, b, _ in AnyCache(a.layered(over: b).mapValues(shifted.then(doubled))) })

    #expect(breach == nil)
  }
}
