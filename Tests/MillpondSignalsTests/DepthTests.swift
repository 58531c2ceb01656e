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
      #expect(DepthTests.ends(ofNested: NestedOperator.all[index]) == 1)
    }
  }

  /// Runs the operator, nested as deep as is promised, on a thread with little stack.
  private static func ends(ofNested subject: NestedOperator) -> Int {
    let ends = Locked(0)
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      do {
        var signal = Signal<Int> { observer, lifetime in
          observer.next(1)
          if !lifetime.isEnded { observer.completed() }
        }
        for _ in 0..<StackLimit.depth { signal = subject.make(signal) }
        signal.subscribe { event in if event.isTerminal { ends.withLock { $0 += 1 } } }
      }
      isDone.signal()
    }
    thread.stackSize = StackLimit.bytes
    thread.start()
    isDone.wait()
    return ends.withLock { $0 }
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

  /// A signal that is not known to have its answer ready.
  @Sendable static func one(_ value: Int) -> Signal<Int> {
    .of(value)
  }

  static let all: [NestedOperator] = [
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
    NestedOperator("withLatest") { $0.withLatest(from: one(1)).map { $0.0 } },
    NestedOperator("sample on") { $0.sample(on: Signal<Int>.never) },
    NestedOperator("race") { .race([$0, .never]) },
    NestedOperator("materialize") { $0.materialize().dematerialize() },
    NestedOperator("attemptMap") { $0.attemptMap { $0 } },
    NestedOperator("settle") { $0.settle().map { _ in 1 } },
    NestedOperator("onEnd") { $0.onEnd { _ in } },
    NestedOperator("log") { $0.log("") { _ in } },
    NestedOperator("share") { $0.share() },
    NestedOperator("replayLast") { $0.replayLast() },
    NestedOperator("replay 3") { $0.replay(3) },
    NestedOperator("debounce") { $0.debounce(.seconds(1)) },
    NestedOperator("throttle") { $0.throttle(.seconds(1)) },
    NestedOperator("timeout") { $0.timeout(.seconds(1_000)) },
    NestedOperator("deferred") { source in .deferred { source } },
    NestedOperator("create") { source in .create { source.run($0, $1) } },
  ]
}
