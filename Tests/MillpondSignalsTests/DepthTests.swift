import Dispatch
import Foundation
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Operators on top of each other, in processes of their own: an overflow ends the process.
@Suite(.heavy) struct DepthTests {
  @Test(arguments: NestedOperator.all.indices)
  func `operators of one kind can be nested as deep as is promised`(index: Int) async {
    await #expect(processExitsWith: .success) { [index] in
      let outcome = Outcome()
      LittleStack.run { outcome.record(NestedOperator.all[index].nested(StackLimit.depth)) }
      #expect(outcome.ends == ["completed"])
      #expect(outcome.hasValue)
    }
  }

  @Test(arguments: NestedOperator.all.indices)
  func `a run of nested operators is disposed of and released`(index: Int) async {
    await #expect(processExitsWith: .success) { [index] in
      LittleStack.run {
        let (outcome, disposals) = (Outcome(), Locked(0))
        let source = Signal<Int> { observer, lifetime in
          lifetime.onEnd { withExtendedLifetime(observer) { disposals.withLock { $0 += 1 } } }
        }

        outcome.record(NestedOperator.all[index].nested(StackLimit.depth, source)).dispose()

        #expect(outcome.ends.isEmpty && disposals.withLock { $0 } > 0)
      }
    }
  }

  @Test(.enabled(if: !Sanitizer.isPresent), arguments: NestedOperator.ofAnyLength.indices)
  func `ten thousand of those that are built in a loop are released`(index: Int) async {
    await #expect(processExitsWith: .success) { [index] in
      LittleStack.run { _ = NestedOperator.ofAnyLength[index].nested(10_000) }
    }
  }

  @Test(arguments: NestedOperator.shared.indices)
  func `shared signals in a row deliver to several subscribers each`(index: Int) async {
    await #expect(processExitsWith: .success) { [index] in
      let outcomes = (0..<2 * StackLimit.depth).map { _ in Outcome() }
      LittleStack.run {
        let subject = PublishSubject<Int>()
        var signal = subject.signal
        for (number, outcome) in outcomes.enumerated() {
          if number.isMultiple(of: 2) { signal = NestedOperator.shared[index].make(signal) }
          outcome.record(signal)
        }
        subject.next(1)
        subject.completed()
      }
      #expect(outcomes.allSatisfy { $0.hasValue && $0.ends == ["completed"] })
    }
  }
}

/// The end of a signal, and whether it sent a value before.
final class Outcome: Sendable {
  private let state = Locked<(ends: [String], hasValue: Bool)>(([], false))

  var ends: [String] { state.withLock { $0.ends } }
  var hasValue: Bool { state.withLock { $0.hasValue } }

  @discardableResult
  func record(_ signal: Signal<Int>) -> Disposable {
    signal.subscribe(
      onNext: { _ in self.state.withLock { $0.hasValue = true } },
      onFailed: { _ in self.state.withLock { $0.ends.append("failed") } },
      onCompleted: { self.state.withLock { $0.ends.append("completed") } })
  }
}

/// A thread with as much stack as a secondary one has on Apple platforms.
enum LittleStack {
  /// Runs `body` on a thread with the usual stack, or a multiple of it, and waits for it.
  static func run(times: Int = 1, _ body: @escaping @Sendable () -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      body()
      isDone.signal()
    }
    thread.stackSize = times * StackLimit.bytes
    thread.start()
    isDone.wait()
  }
}

/// An operator that is nested in itself, by its name.
struct NestedOperator: Sendable {
  let name: String
  let make: @Sendable (Signal<Int>) -> Signal<Int>

  init(_ name: String, _ make: @escaping @Sendable (Signal<Int>) -> Signal<Int>) {
    self.name = name
    self.make = make
  }

  /// Returns `depth` levels of the operator on top of `source`.
  func nested(_ depth: Int, _ source: Signal<Int> = .of(1)) -> Signal<Int> {
    var signal = source
    for _ in 0..<depth { signal = make(signal) }
    return signal
  }

  /// Returns a signal that is not known to have its answer ready.
  @Sendable static func one(_ value: Int) -> Signal<Int> {
    .of(value)
  }

  static let all: [NestedOperator] =
    shared + [
      NestedOperator("map") { $0.map { $0 + 1 } },
      NestedOperator("filter") { $0.filter { _ in true } },
      NestedOperator("scan") { $0.scan(0, +) },
      NestedOperator("reduce") { $0.reduce(0, +) },
      NestedOperator("collect") { $0.collect().map(\.count) },
      NestedOperator("distinct") { $0.distinct() },
      NestedOperator("take") { $0.take(3) },
      NestedOperator("take while") { $0.take(while: { _ in true }) },
      NestedOperator("take until") { $0.take(until: Signal<Int>.never) },
      NestedOperator("first") { $0.first() },
      NestedOperator("last") { $0.last() },
      NestedOperator("startWith") { $0.startWith(1).skip(1) },
      NestedOperator("ifEmpty") { $0.ifEmpty { one(1) } },
      NestedOperator("recover") { $0.recover { _ in one(1) } },
      NestedOperator("retry") { $0.retry(.immediate(attempts: 3)) },
      NestedOperator("concat") { $0.concat(.empty).map { $0 } },
      NestedOperator("repeated") { $0.repeated(2).first() },
      NestedOperator("merge") { $0.merge(.empty) },
      NestedOperator("merge and map") { $0.merge(.empty).map { $0 } },
      NestedOperator("flatMap") { $0.flatMap(.concat) { one($0) } },
      NestedOperator("flatMap, merge") { $0.flatMap(.merge) { one($0) } },
      NestedOperator("flatMap, latest") { $0.flatMap(.latest) { one($0) } },
      NestedOperator("flatMap to it") { source in one(1).flatMap { _ in source } },
      NestedOperator("flatMap to it, latest") { source in one(1).flatMap(.latest) { _ in source } },
      NestedOperator("zip") { zip($0, one(1)).map { $0.0 } },
      NestedOperator("zip of a collection") { zip([$0, one(1)]).map { $0[0] } },
      NestedOperator("combineLatest") { combineLatest($0, one(1)).map { $0.0 } },
      NestedOperator("combineLatest of a collection") {
        combineLatest([$0, one(1)]).map { $0[0] }
      },
      NestedOperator("withLatest") { $0.withLatest(from: one(1)).map { $0.0 } },
      NestedOperator("sample on") { $0.sample(on: Signal<Int>.never) },
      NestedOperator("race") { .race([$0, .never]) },
      NestedOperator("materialize") { $0.materialize().dematerialize() },
      NestedOperator("attemptMap") { $0.attemptMap { $0 } },
      NestedOperator("settle") { $0.settle().map { _ in 1 } },
      NestedOperator("onEnd") { $0.onEnd { _ in } },
      NestedOperator("log") { $0.log("") { _ in } },
      NestedOperator("debounce") { $0.debounce(.seconds(1)) },
      NestedOperator("throttle") { $0.throttle(.seconds(1)) },
      NestedOperator("timeout") { $0.timeout(.seconds(1_000)) },
      NestedOperator("deferred") { source in .deferred { source } },
      NestedOperator("create") { source in .create { source.run($0, $1) } },
    ]

  /// The operators whose run several subscribers share.
  static let shared: [NestedOperator] = [
    NestedOperator("share") { $0.share() },
    NestedOperator("replayLast") { $0.replayLast() },
    NestedOperator("replay 3") { $0.replay(3) },
  ]

  /// The operators whose nesting adds length, not depth.
  static let ofAnyLength: [NestedOperator] =
    shared + [
      NestedOperator("concat") { $0.concat(.empty) },
      NestedOperator("concat before") { .empty.concat($0) },
      NestedOperator("merge") { $0.merge(.empty) },
      NestedOperator("deferred") { source in .deferred { source } },
    ]
}
