import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Values that a codec can't read: where they are asked for again, and how they are reported.
@Suite struct UndecodableValuesTests {
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

  /// The counts of the layer "origin" after one get.
  private func counts(of cache: some Source<String, Int>) async throws -> CacheStatistics? {
    let monitor = CacheMonitor()
    try await Recorder<Int>().subscribe(to: cache.monitored(by: monitor).get("a")).ended()
    let counts = monitor.statistics["origin"]
    #expect(counts?.hits == 0)
    return counts
  }

  /// A source that has stored answers of its own, with ages, beside those of its origin.
  struct Storing: AnsweringSource {
    let origin: String
    let asked = Locked<[Freshness]>([])

    func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<String>> {
      asked.withLock { $0.append(lookup.freshness) }
      return lookup.admits(age: .seconds(60))
        ? .just(.value(Stamped("stored", age: .seconds(60)))) : .just(.value(Stamped(origin)))
    }
  }

  @Test(arguments: [0, 1], [Freshness.any, .atMost(.seconds(90))])
  func `an undecodable answer that a source had stored is asked for once more`(
    codec: Int, freshness: Freshness
  ) async throws {
    let lookup = Lookup(freshness: freshness)
    let (good, bad) = (Storing(origin: "7"), Storing(origin: "x"))
    let answer = Recorder<Int>().subscribe(to: good.mapValues(Self.numbers[codec]).get("a", lookup))
    let failed = Recorder<Int>().subscribe(to: bad.mapValues(Self.numbers[codec]).get("a", lookup))
    try await answer.ended()
    try await failed.ended()

    #expect(answer.values == [7])
    #expect((failed.failure as? CacheError)?.underlying is Unreadable)
    #expect(bad.asked.withLock { $0 } == [freshness, .atMost(.nanoseconds(-1))])
  }

  @Test(arguments: [Freshness.reload, .atMost(.zero)])
  func `an undecodable answer that comes from the origin is not asked for again`(
    freshness: Freshness
  ) {
    let source = Storing(origin: "x")
    source.mapValues(Self.numbers[0]).get("a", freshness: freshness).subscribe()
    #expect(source.asked.withLock { $0.count } == 1)
  }

  @Test func `a value in a flight below a codec that can't read it is no hit`() async throws {
    let origin = FunctionSource<String, String>.sync { _ in "x" }.named("origin")
    let shared = origin.reusingInFlight()
    for codec in Self.unreadable {
      let cache = AnyCache(shared.mapValues(codec))
      #expect(try await counts(of: cache)?.undecodable == 1)
    }
  }

  @Test func `of a value in a flight that only a joiner reads, the joiner's codec speaks`() {
    let origin = TestOrigin<String, String>()
    let shared = origin.named("origin").reusingInFlight()
    let monitor = CacheMonitor()
    let first = shared.get("a").subscribe()
    let joiner = shared.mapValues(Self.unreadable[0]).monitored(by: monitor).get("a").subscribe()

    origin["a"].next("x")
    origin["a"].completed()

    #expect(monitor.statistics["origin"]?.undecodable == 1)
    #expect(monitor.statistics["origin"]?.hits == 0)
    first.dispose()
    joiner.dispose()
  }

  @Test func `a value that only the outer of two codecs can't read is no hit`() async throws {
    let origin = FunctionSource<String, String>.sync { _ in "x" }.named("origin")
    let cache = origin.mapValues(.identity).mapValues(Self.unreadable[0])
    #expect(try await counts(of: cache)?.undecodable == 1)
  }

  @Test func `a value of a get that ends before its codec has spoken is a hit`() {
    let origin = TestOrigin<String, String>()
    let monitor = CacheMonitor()
    let pause = PublishSubject<Void>()
    let slow = Codec<String, Int>.asynchronous(
      encode: { "\($0)" }, decode: { _ in try await pause.signal.map { 7 }.value })
    let get = origin.named("origin").mapValues(slow).monitored(by: monitor).get("a").subscribe()
    origin["a"].next("7")
    #expect(monitor.statistics["origin"] == nil)

    get.dispose()

    #expect(monitor.statistics["origin"]?.hits == 1)
  }
}
