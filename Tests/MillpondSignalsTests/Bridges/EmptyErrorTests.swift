import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

/// The error of an empty signal's `value`, which the signal chooses, as a cache does for a miss.
@Suite struct EmptyErrorTests {
  static let missing = Signal<Int>(
    start: { observer, _ in observer.completed() }, now: nil, emptyError: Missing.self)

  enum Missing: Emptiness {
    static var error: any Error { Trouble.some }
  }

  @Test(arguments: Carrier.all)
  func `an operator passes on the error of an empty signal`(carrier: Carrier) async {
    await #expect(throws: Trouble.some) { try await carrier.ask(Self.missing) }
  }

  @Test func `an emptiness of an operator's own is not the signal's`() async {
    await #expect(throws: SignalError.self) {
      try await Self.missing.ignoreValues(as: Int.self).value
    }
    await #expect(throws: SignalError.self) { try await Self.missing.take(0).value }
    await #expect(throws: SignalError.self) { try await Signal.merge([Self.missing]).value }
  }
}

/// An operator by name, and a wait for the first value of its result.
struct Carrier: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let ask: @Sendable (Signal<Int>) async throws -> Void

  init<Output>(
    _ name: String, _ operation: @escaping @Sendable (Signal<Int>) -> Signal<Output>
  ) {
    testDescription = name
    ask = { _ = try await operation($0).value }
  }

  static let all = values + waiting + joining

  static let values = [
    Carrier("map") { $0.map { $0 + 1 } },
    Carrier("filter") { $0.filter { _ in false } },
    Carrier("compactMap") { $0.compactMap { "\($0)" } },
    Carrier("attemptMap") { $0.attemptMap { $0 } },
    Carrier("scan") { $0.scan(0, +) },
    Carrier("distinct") { $0.distinct() },
    Carrier("take") { $0.take(2) },
    Carrier("take while") { $0.take(while: { _ in true }) },
    Carrier("take until") { $0.take(until: Signal<Int>.never) },
    Carrier("skip") { $0.skip(1) },
    Carrier("first") { $0.first() },
    Carrier("last") { $0.last() },
    Carrier("onNext") { $0.onNext { _ in } },
    Carrier("onEnd") { $0.onEnd { _ in } },
    Carrier("log") { $0.log("missing") { _ in } },
    Carrier("dematerialize") { $0.map { Event.next($0) }.dematerialize() },
    Carrier("retry") { $0.retry(.immediate(attempts: 2)) },
    Carrier("recover") { $0.recover { .fail($0) } },
    Carrier("ifEmpty") { $0.ifEmpty { .empty } },
    Carrier("ifNoValue") { $0.ifNoValue { _ in .empty } },
    Carrier("replayLast") { $0.replayLast() },
    Carrier("share") { $0.share() },
    Carrier("replay") { $0.replay(2) },
    Carrier("started") { $0.started() },
    Carrier("repeated") { $0.repeated(2) },
  ]

  static let waiting = [
    Carrier("delay") { $0.delay(.zero) },
    Carrier("debounce") { $0.debounce(.zero) },
    Carrier("throttle") { $0.throttle(.zero) },
    Carrier("sample every") { $0.sample(every: .zero) },
    Carrier("sample on") { $0.sample(on: Signal<Int>.never) },
    Carrier("timeout") { $0.timeout(.seconds(10)) },
    Carrier("receive on a queue") { $0.receive(on: DispatchQueue(label: "carrier")) },
    Carrier("receive on the main actor") { $0.receive(on: MainActor.shared) },
  ]

  static let joining = [
    Carrier("flatMap, concat") { $0.flatMap(.concat) { .just($0) } },
    Carrier("flatMap, merge") { $0.flatMap(.merge) { .just($0) } },
    Carrier("flatMap, latest") { $0.flatMap(.latest) { .just($0) } },
    Carrier("switchToLatest") { $0.map { .just($0) }.switchToLatest() },
    Carrier("concat") { $0.concat(.empty) },
    Carrier("concat, as the second") { Signal.empty.concat($0) },
    Carrier("withLatest") { $0.withLatest(from: Signal.just(1)).map { $0 + $1 } },
    Carrier("zip") { zip(.just(1), $0).map { $0 + $1 } },
    Carrier("zip of a collection") { zip([.just(1), $0]) },
    Carrier("combineLatest of a collection") { combineLatest([.just(1), $0]) },
    Carrier("combineLatest") { combineLatest($0, .just(1)).map { $0 + $1 } },
  ]
}
