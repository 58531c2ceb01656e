import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

/// Subscriptions without any reference, since their source was released: nothing may be kept for
/// them.
@Suite struct AbandonedEngineTests {
  @Test(arguments: IdleOperator.all)
  func `an operator over never is released when its handle is dropped`(subject: IdleOperator) {
    let released = Locked(0)
    do {
      let witness = Witness { released.withLock { $0 += 1 } }
      let clock = ManualClock()
      subject.make(.never, clock).subscribe(onNext: { _ in _ = witness })
    }

    #expect(released.withLock { $0 } == 1)
  }
}

/// An operator with an engine, by its name.
struct IdleOperator: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable (Signal<Int>, ManualClock) -> Signal<Int>

  init(_ name: String, _ make: @escaping @Sendable (Signal<Int>, ManualClock) -> Signal<Int>) {
    testDescription = name
    self.make = make
  }

  static let all: [IdleOperator] = [
    IdleOperator("take 1") { source, _ in source.take(1) },
    IdleOperator("take while") { source, _ in source.take(while: { _ in true }) },
    IdleOperator("take until") { source, _ in source.take(until: source) },
    IdleOperator("concat") { source, _ in source.concat(source).concat(.just(1)) },
    IdleOperator("repeated") { source, _ in source.repeated() },
    IdleOperator("merge") { source, _ in source.merge(source).merge(.just(1)) },
    IdleOperator("onEnd") { source, _ in source.onEnd { _ in } },
    IdleOperator("ifEmpty") { source, _ in source.ifEmpty { .just(1) } },
    IdleOperator("flatMap") { source, _ in Signal.of(1, 2).flatMap(.merge) { _ in source } },
    IdleOperator("flatMap, latest") { source, _ in
      Signal.of(1, 2).flatMap(.latest) { _ in source }
    },
    IdleOperator("zip") { source, _ in zip(source, source).map { $0 + $1 } },
    IdleOperator("combineLatest") { source, _ in combineLatest(source, source).map { $0 + $1 } },
    IdleOperator("combineLatest of a collection") { source, _ in
      combineLatest([source, source]).map { $0[0] }
    },
    IdleOperator("withLatest") { source, _ in source.withLatest(from: source).map { $0 + $1 } },
    IdleOperator("sample on") { source, _ in source.sample(on: source) },
    IdleOperator("race") { source, _ in .race([source, source]) },
    IdleOperator("retry") { source, clock in source.retry(.immediate(attempts: 3), clock: clock) },
    IdleOperator("debounce") { source, clock in source.debounce(.seconds(1), clock: clock) },
    IdleOperator("throttle") { source, clock in source.throttle(.seconds(1), clock: clock) },
    IdleOperator("sample") { source, clock in source.sample(every: .seconds(1), clock: clock) },
    IdleOperator("delay") { source, clock in source.delay(.seconds(1), clock: clock) },
    IdleOperator("receive") { source, _ in source.receive(on: .global()) },
  ]
}
