import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Questions through several layers and wrappers.
@Suite struct RevalidationLayersTests {
  let clock = ManualClock()
  let origin = VersionedOrigin()
  let upper: MemoryCache<String, Int>
  let middle: MemoryCache<String, Int>

  init() {
    upper = MemoryCache(countLimit: 10, clock: clock)
    middle = MemoryCache(countLimit: 10, clock: clock)
  }

  enum Grouping: CaseIterable, Sendable {
    case right, left, rightErased, leftShared

    func cache(
      _ upper: MemoryCache<String, Int>, _ middle: MemoryCache<String, Int>,
      _ origin: some Source<String, Int>
    ) -> AnyCache<String, Int> {
      switch self {
      case .right: AnyCache(upper.layered(over: middle.layered(over: origin)))
      case .left: AnyCache(upper.layered(over: middle).layered(over: origin))
      case .rightErased:
        AnyCache(
          AnyCache(upper).layered(over: AnyCache(AnyCache(middle).layered(over: AnyCache(origin)))))
      case .leftShared:
        AnyCache(upper.layered(over: middle.reusingInFlight()).layered(over: origin))
      }
    }
  }

  private func put(_ version: Int, in memory: MemoryCache<String, Int>) {
    let stamped = Stamped(
      version, age: .seconds(11), validator: Validator(entityTag: "\(version)"))
    _ = memory.apply(.fill("a", stamped, FillToken()))
  }

  @Test(arguments: Grouping.allCases)
  func `both layers are new again after one question`(grouping: Grouping) {
    put(1, in: upper)
    put(1, in: middle)

    let asked = grouping.cache(upper, middle, origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [1] && asked.isCompleted)
    #expect(origin.asked == ["1"])
    #expect(upper.peekStamped("a")?.age == .zero)
    #expect(middle.peekStamped("a")?.age == .zero)
  }

  @Test(arguments: Grouping.allCases)
  func `a middle layer without a value passes the question on`(grouping: Grouping) {
    put(1, in: upper)

    let asked = grouping.cache(upper, middle, origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [1])
    #expect(origin.asked == ["1"])
    #expect(upper.peekStamped("a")?.age == .zero)
  }

  @Test(arguments: Grouping.allCases)
  func `a middle layer with a value asks for an upper one without`(grouping: Grouping) {
    put(1, in: middle)

    let asked = grouping.cache(upper, middle, origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [1])
    #expect(origin.asked == ["1"])
    #expect(middle.peekStamped("a")?.age == .zero)
    // A confirmation stores nothing where nothing is; the next get does.
    _ = grouping.cache(upper, middle, origin.source).ask(Lookup())
    #expect(upper.peek("a") == 1)
  }

  @Test func `a middle layer with another version asks about its own`() {
    put(1, in: upper)
    put(2, in: middle)
    origin.version = 2

    let asked = Grouping.right.cache(upper, middle, origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [2])
    #expect(origin.asked == ["2"])
    #expect(upper.peek("a") == 2)
  }

  @Test func `a fresh value of the middle layer needs no question`() {
    put(1, in: upper)
    _ = middle.apply(
      .fill("a", Stamped(2, validator: Validator(entityTag: "2")), FillToken()))

    let asked = Grouping.right.cache(upper, middle, origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [2])
    #expect(origin.asked == [])
    #expect(upper.peek("a") == 2)
  }

  @Test func `the question passes mapped keys and values`() {
    put(1, in: middle)
    let texts = middle.mapKeys { (key: Int) in key == 1 ? "a" : "b" }
      .mapValues(encode: { Int($0) ?? 0 }, decode: { "\($0)" })
    let source = origin.source.mapKeys { (key: Int) in "\(key)" }.mapValues { "\($0)" }
    let recorder = Recorder<Stamped<String>>()

    recorder.subscribe(
      to: texts.layered(over: source).getStamped(1, RevalidationScene.atMostTen))

    #expect(recorder.values.map(\.value) == ["1"])
    #expect(origin.asked == ["1"])
    #expect(middle.peekStamped("a")?.age == .zero)
  }

  @Test func `the question passes codecs that take their time`() async throws {
    put(1, in: middle)
    let codec = Codec<Int, String>.asynchronous(
      encode: { Int($0) ?? 0 }, decode: { "\($0)" })
    let texts = middle.mapKeys { (key: Int) in key == 1 ? "a" : "b" }.mapValues(codec)
    let source = origin.source.mapKeys { (key: Int) in "\(key)" }
      .mapValues(asynchronously: { "\($0)" })
    let recorder = Recorder<Stamped<String>>()

    recorder.subscribe(
      to: texts.layered(over: source).getStamped(1, RevalidationScene.atMostTen))
    try await recorder.ended()

    #expect(recorder.values.map(\.value) == ["1"])
    #expect(origin.asked == ["1"])
    #expect(middle.peekStamped("a")?.validator?.entityTag == "1")
  }

  @Test func `an answer without a value is no failure for the policies between`() {
    put(1, in: upper)
    let source = origin.source
      .limited(to: 1).circuitBreaking(afterFailures: 1, for: .seconds(60), clock: clock)
      .retrying(.immediate(attempts: 2)).timingOut(after: .seconds(5), clock: clock)
      .recovering(with: FunctionSource.sync { (_: String) in 99 })
      .conditioned { $0 == "a" }
    let cache = upper.layered(over: source)

    for _ in 0..<3 {
      #expect(cache.ask(RevalidationScene.atMostTen).values.map(\.value) == [1])
      clock.advance(by: .seconds(11))
    }
    #expect(origin.asked == ["1", "1", "1"])
  }

  @Test func `a hedged question is answered by either source`() {
    put(1, in: upper)
    origin.hold()
    let mirror = VersionedOrigin()
    let source = origin.source.hedged(with: mirror.source, after: .seconds(1), clock: clock)

    let asked = upper.layered(over: source).ask(RevalidationScene.atMostTen)
    clock.advance(by: .seconds(1))
    origin.answers.failed(Refused())

    #expect(mirror.asked == ["1"])
    #expect(asked.values.map(\.value) == [1])
    #expect(upper.peekStamped("a")?.age == .zero)
  }
}
