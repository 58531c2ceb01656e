import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TransformedValuesTests {
  let base = MemoryCache<String, String>(countLimit: 5)
  let recorder = Recorder<Int>()

  struct Unreadable: Error {}

  @Sendable static func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw Unreadable() }
    return number
  }

  @Test func `values are changed on their way out, and there at once if they were`() {
    base.set("7", for: "a")
    let source = base.mapValues { try Self.number($0) }

    #expect(recorder.subscribe(to: source.get("a")).values == [7])
    #expect(source.now("a", Lookup()) == 7)
  }

  @Test func `an error of the transform fails the get as it was thrown`() {
    base.set("seven", for: "a")

    recorder.subscribe(to: base.mapValues { try Self.number($0) }.get("a"))

    #expect(recorder.failure is Unreadable)
  }

  @Test func `a transform that takes time changes and fails alike`() async throws {
    base.set("7", for: "a")
    base.set("seven", for: "b")
    let source = base.mapValues(asynchronously: { text in try Self.number(text) })

    #expect(try await source.get("a").value == 7)
    await #expect(throws: Unreadable.self) { try await source.get("b").value }
    #expect(source.now("a", Lookup()) == nil)
  }

  @Test func `a value keeps its age`() {
    let base = TestCache<String, String>()
    _ = base.apply(.fill("a", Stamped("7", age: .seconds(5)), .any))

    let stamped = Recorder<Stamped<Int>>().subscribe(
      to: base.mapValues { try Self.number($0) }.getStamped("a", Lookup()))

    #expect(stamped.values == [Stamped(7, age: .seconds(5))])
  }

  @Test func `it is an origin, so a get of stored values only finds nothing`() {
    base.set("7", for: "a")

    recorder.subscribe(
      to: base.mapValues { try Self.number($0) }.get("a", freshness: .cachedOnly))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a cache over it keeps what was changed, and asks once`() {
    let lower = TestCache<String, String>()
    lower.set("7", for: "a")
    let cache = MemoryCache<String, Int>(countLimit: 5)
      .layered(over: lower.mapValues { try Self.number($0) })

    recorder.subscribe(to: cache.get("a"))
    let again = Recorder<Int>().subscribe(to: cache.get("a"))

    #expect(recorder.values == [7] && again.values == [7])
    #expect(lower.gets == ["a"])
  }
}
