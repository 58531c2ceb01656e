import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Answers without a value, and what becomes of the reason.
@Suite struct AnswerTests {
  struct Unreadable: Error {}

  /// A store whose answers a test sends.
  struct Answering: Cache, AnsweringSource {
    let source = TestSource<Answer<Int>>()

    func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> { source.signal }

    func answer(_ answer: Answer<Int>?) {
      if let answer { source.next(answer) }
      source.completed()
    }
  }

  let first = Answering()
  let second = Answering()

  static let stale = Stamped(1, age: .seconds(9), validator: Validator(entityTag: "1"))

  static let reasons: [Answer<Int>] = [
    .stale(stale), .tooOld(age: .seconds(9)), .undecodable(Unreadable()),
    .notModified(timeToLive: .minutes(1)),
  ]

  private func answers(of source: some Source<String, Int>) -> Recorder<Answer<Int>> {
    Recorder<Answer<Int>>().subscribe(to: source.answers("a", Lookup()))
  }

  @Test(arguments: reasons)
  func `a reason is no value, whichever way a get takes`(reason: Answer<Int>) async throws {
    let sources: [AnyCache<String, Int>] = [
      AnyCache(first), AnyCache(first.layered(over: EmptyCache())),
      AnyCache(EmptyCache().layered(over: first)), AnyCache(first.reusingInFlight()),
      AnyCache(first.mapValues(.identity)), AnyCache(first.filtered { _, _ in true }),
    ]
    let gets = sources.map { Recorder<Int>().subscribe(to: $0.get("a")) }

    first.answer(reason)

    for get in gets { #expect(get.transcript == ["completed"]) }
  }

  @Test func `a stale value of either layer is why both have none`() {
    let upper = answers(of: first.layered(over: second))
    first.answer(.undecodable(Unreadable()))
    second.answer(.stale(Self.stale))
    #expect(upper.values.map { $0.confirmable == Self.stale } == [true])

    let (other, lower) = (Answering(), Answering())
    let both = answers(of: other.layered(over: lower))
    other.answer(.stale(Self.stale))
    lower.answer(.tooOld(age: .seconds(1)))
    #expect(both.values.map { $0.confirmable == Self.stale } == [true])
  }

  @Test func `why one of two sources has no value does not win over the other's value`() {
    let clock = ManualClock()
    let hedged = answers(of: first.hedged(with: second, after: .seconds(1), clock: clock))
    clock.advance(by: .seconds(1))
    first.answer(.tooOld(age: .seconds(9)))
    second.answer(.value(Stamped(2)))
    #expect(hedged.values.map(\.stamped) == [Stamped(2)])

    let (failing, other) = (Answering(), Answering())
    let recovered = answers(of: failing.recovering(with: other))
    failing.source.next(.undecodable(Unreadable()))
    failing.source.failed(Unreadable())
    other.answer(.value(Stamped(3)))
    #expect(recovered.values.map(\.stamped) == [Stamped(3)])
  }

  @Test func `a stale value that a codec can't read is not asked about`() {
    let numbers = Codec<Int, Int>(encode: { $0 }, decode: { _ in throw Unreadable() })
    let read = answers(of: first.mapValues(numbers))

    first.answer(.stale(Self.stale))

    guard case .undecodable(let error)? = read.values.first else {
      Issue.record("\(read.transcript)")
      return
    }
    #expect(error is Unreadable && read.values.count == 1)
  }
}
