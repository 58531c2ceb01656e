import Dispatch
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@Suite(.heavy) struct SignalLawTests {
  @Test(arguments: LawfulOperator.all)
  func `every operator keeps the laws`(subject: LawfulOperator) async {
    let breaches = await subject.breaches()

    #expect(breaches.isEmpty, "\(breaches.map { "\($0.law): \($0.description)" })")
  }
}

/// An operator by its name, as the laws take it.
struct LawfulOperator: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let breaches: @Sendable () async -> [Breach<SignalLaw>]

  init<Output>(
    _ name: String, _ operation: @escaping @Sendable (Signal<Int>) -> Signal<Output>
  ) {
    testDescription = name
    breaches = { await SignalLaws(operation).breaches() }
  }

  /// Creates an operator that waits, on a clock that the laws advance.
  init<Output>(
    waiting name: String,
    _ operation: @escaping @Sendable (Signal<Int>, ManualClock) -> Signal<Output>
  ) {
    testDescription = name
    breaches = {
      let clock = ManualClock()
      let laws = SignalLaws(passTime: { clock.advance(by: .seconds(1)) }) { operation($0, clock) }
      return await laws.breaches()
    }
  }

  static let all = values + followers + inner + combining + shared + delivered + waiting

  static let values = [
    LawfulOperator("nothing at all") { $0 },
    LawfulOperator("map") { $0.map { $0 + 1 } },
    LawfulOperator("filter") { $0.filter { $0.isMultiple(of: 2) } },
    LawfulOperator("compactMap") { $0.compactMap { $0 > 4 ? "\($0)" : nil } },
    LawfulOperator("onNext") { $0.onNext { _ in } },
    LawfulOperator("onEnd") { $0.onEnd { _ in } },
    LawfulOperator("take 2") { $0.take(2) },
    LawfulOperator("take while") { $0.take(while: { $0 < 5 }) },
    LawfulOperator("skip 2") { $0.skip(2) },
    LawfulOperator("first") { $0.first() },
    LawfulOperator("last") { $0.last() },
    LawfulOperator("distinct") { $0.distinct() },
    LawfulOperator("scan") { $0.scan(0, +) },
    LawfulOperator("reduce") { $0.reduce(0, +) },
    LawfulOperator("collect") { $0.collect() },
    LawfulOperator("startWith") { $0.startWith(1) },
    LawfulOperator("attemptMap") { $0.attemptMap { $0 + 1 } },
    LawfulOperator("attemptMap that throws") { source in
      source.attemptMap { value in
        if value > 1 { throw Trouble.some }
        return value
      }
    },
    LawfulOperator("materialize") { $0.materialize() },
    LawfulOperator("dematerialize") { $0.materialize().dematerialize() },
    LawfulOperator("settle") { $0.settle() },
    LawfulOperator("ignoreValues") { $0.ignoreValues(as: Int.self) },
    LawfulOperator("log") { $0.log("source") { _ in } },
  ]

  static let followers = [
    LawfulOperator("recover") { $0.recover { _ in .of(8, 9) } },
    LawfulOperator("recover, with itself") { source in source.recover { _ in source } },
    LawfulOperator("ifEmpty") { $0.ifEmpty { .just(1) } },
    LawfulOperator("ifNoValue, with itself") { source in source.ifNoValue { _ in source } },
  ]

  static let inner = [
    LawfulOperator("flatMap, concat") { $0.flatMap(.concat) { .of($0, $0) } },
    LawfulOperator("flatMap, merge") { $0.flatMap(.merge) { .of($0, $0) } },
    LawfulOperator("flatMap, latest") { $0.flatMap(.latest) { .of($0, $0) } },
    LawfulOperator("flatMap, concat of the source") { source in
      Signal.of(1, 2, 3).flatMap(.concat) { _ in source }
    },
    LawfulOperator("flatMap, merge of the source") { source in
      Signal.of(1, 2, 3).flatMap(.merge) { _ in source }
    },
    LawfulOperator("flatMap, latest of the source") { source in
      Signal.of(1, 2, 3).flatMap(.latest) { _ in source }
    },
    LawfulOperator("flatMap, merge of the source by the source") { source in
      source.take(2).flatMap(.merge) { _ in source }
    },
    LawfulOperator("flatMap, latest of the source by the source") { source in
      source.take(2).flatMap(.latest) { _ in source }
    },
  ]

  static let combining = [
    LawfulOperator("zip with itself") { source in zip(source, source).map { $0 + $1 } },
    LawfulOperator("zip with a settled one") { zip($0, .just(1)).map { $0 + $1 } },
    LawfulOperator("zip of a collection") { source in zip([source, source, source]) },
    LawfulOperator("combineLatest of a collection") { source in
      combineLatest([source, source, source])
    },
    LawfulOperator("combineLatest with itself") { source in
      combineLatest(source, source).map { $0 + $1 }
    },
    LawfulOperator("withLatest, from itself") { source in
      source.withLatest(from: source).map { $0 + $1 }
    },
    LawfulOperator("sample on itself") { source in source.sample(on: source) },
    LawfulOperator("sample on never") { $0.sample(on: Signal<Int>.never) },
    LawfulOperator("a settled one, sampled on it") { Signal.of(1, 2).concat($0).sample(on: $0) },
    LawfulOperator("merge with itself") { source in source.merge(source, source) },
    LawfulOperator("concat with itself") { source in source.concat(source) },
    LawfulOperator("repeated") { $0.repeated(3) },
    LawfulOperator("race with itself") { source in .race([source, source]) },
    LawfulOperator("switchToLatest") { source in source.map { .of($0, $0) }.switchToLatest() },
    LawfulOperator("take until itself") { source in source.take(until: source) },
    LawfulOperator("take until never") { $0.take(until: Signal<Int>.never) },
    LawfulOperator("take until the end") { $0.take(until: Signal<Int>.empty) },
  ]

  static let shared = [
    LawfulOperator("replayLast") { $0.replayLast() },
    LawfulOperator("share") { $0.share() },
    LawfulOperator("share, merged with itself") { source in
      let shared = source.share()
      return shared.merge(shared)
    },
    LawfulOperator("replay 2") { $0.replay(2) },
    LawfulOperator("replayAll") { $0.replayAll() },
    LawfulOperator("replayAll, merged with itself") { source in
      let shared = source.replayAll()
      return Signal.of(1, 2).flatMap(.merge) { _ in shared }
    },
    LawfulOperator("replayLast that resets") { $0.replayLast(resetsOnFailure: true) },
    LawfulOperator("replayLast, merged with itself") { source in
      let shared = source.replayLast()
      return Signal.of(1, 2).flatMap(.merge) { _ in shared }
    },
  ]

  static let delivered = [
    LawfulOperator("receive on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    LawfulOperator("receive on a concurrent queue") { $0.receive(on: .global()) },
  ]

  static let waiting = [
    LawfulOperator(waiting: "debounce") { $0.debounce(.seconds(1), clock: $1) },
    LawfulOperator(waiting: "throttle, latest") { $0.throttle(.seconds(3), clock: $1) },
    LawfulOperator(waiting: "throttle, first") {
      $0.throttle(.seconds(3), latest: false, clock: $1)
    },
    LawfulOperator(waiting: "sample") { $0.sample(every: .milliseconds(700), clock: $1) },
    LawfulOperator(waiting: "sample on an interval") {
      $0.sample(on: .interval(.milliseconds(700), clock: $1))
    },
    LawfulOperator(waiting: "merge with an interval") {
      $0.merge(.interval(.milliseconds(300), clock: $1).take(2))
    },
    LawfulOperator(waiting: "take until a timer") {
      $0.take(until: .timer(after: .seconds(3), clock: $1))
    },
    LawfulOperator(waiting: "delay") { $0.delay(.seconds(2), clock: $1) },
    LawfulOperator(waiting: "timeout, first value") { $0.timeout(.seconds(2), clock: $1) },
    LawfulOperator(waiting: "timeout, next event") {
      $0.timeout(.seconds(2), awaiting: .nextEvent, clock: $1)
    },
    LawfulOperator(waiting: "timeout, end") {
      $0.timeout(.seconds(5), awaiting: .end, clock: $1)
    },
    LawfulOperator(waiting: "retry at once") {
      $0.retry(.immediate(attempts: 3), clock: $1)
    },
    LawfulOperator(waiting: "retry after a pause") {
      $0.retry(.backoff(attempts: 3, from: .seconds(1), upTo: .seconds(1)), clock: $1)
    },
  ]
}
