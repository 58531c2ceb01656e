import Millpond
import MillpondTesting
import Synchronization
import Testing

// snippet
extension Signal {
  /// Passes on the values that come after the first `count`, at most `limit` of them.
  func page(after count: Int, limit: Int) -> Signal {
    skip(count).take(limit)
  }
}
// end

// snippet
extension Signal where Value == Int {
  /// Doubles each value.
  func doubled() -> Signal {
    Signal { observer, lifetime in
      run(observer.replacingNext { observer.next($0 * 2) }, lifetime)
    }
  }
}
// end

// snippet
extension Signal {
  /// Completes instead of failing.
  func forgiving() -> Signal {
    Signal { observer, lifetime in
      run(
        observer.replacingOther { event in
          if case .failed = event { observer.completed() } else { observer.other(event) }
        }, lifetime)
    }
  }
}
// end

// snippet
extension Signal where Value: Equatable {
  /// Completes instead of sending `last`.
  func upTo(_ last: Value) -> Signal {
    Signal { observer, lifetime in
      let upstream = lifetime.child()
      run(
        Observer(
          next: { value in
            if upstream.isEnded { return }
            if value != last { return observer.next(value) }
            upstream.end()
            observer.completed()
          },
          other: { event in
            if upstream.isEnded { return }
            if event.isTerminal { upstream.end() }
            observer.other(event)
          }), upstream)
    }
  }
}
// end

// snippet
extension Signal {
  /// Sends each value twice.
  func twice() -> Signal {
    Signal { observer, lifetime in
      run(
        observer.replacingNext { value in
          observer.next(value)
          if !lifetime.isEnded { observer.next(value) }
        }, lifetime)
    }
  }
}
// end

// snippet
extension Signal {
  /// Sends each value with its number, from zero.
  func numbered() -> Signal<(Int, Value)> {
    Signal<(Int, Value)> { observer, lifetime in
      let count = ValueCounter()
      run(observer.replacingNext { observer.next((count.next(), $0)) }, lifetime)
    }
  }
}

final class ValueCounter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      defer { count += 1 }
      return count
    }
  }
}
// end

// snippet
struct PairState {
  enum Step: Equatable {
    case send(Int, Int)
    case wait
  }

  private var waiting: Int?

  mutating func received(_ value: Int) -> Step {
    guard let first = waiting else {
      waiting = value
      return .wait
    }
    waiting = nil
    return .send(first, value)
  }
}
// end

// snippet
@Suite struct DoubledTests {
  @Test func `doubling keeps the laws`() async {
    let laws = SignalLaws { $0.map { $0 * 2 } }

    let breaches = await laws.breaches()

    #expect(breaches.isEmpty)
  }
}
// end

// snippet
@Suite struct LateTests {
  @Test func `a delay keeps the laws`() async {
    let clock = ManualClock()
    let laws = SignalLaws(passTime: { clock.advance(by: .seconds(1)) }) {
      $0.delay(.seconds(2), clock: clock)
    }

    let breaches = await laws.breaches()

    #expect(breaches.isEmpty)
  }
}
// end

/// The operators of the article "Writing an operator".
@Suite struct WritingAnOperatorPageTests {
  func values<Value>(_ signal: Signal<Value>) -> [Value] {
    Recorder<Value>().subscribe(to: signal).values
  }

  @Test func `the operators do what they are for`() {
    #expect(values(Signal.of(1, 2, 3, 4).page(after: 1, limit: 2)) == [2, 3])
    #expect(values(Signal.of(1, 2).doubled()) == [2, 4])
    #expect(values(Signal.of(1, 2, 3).upTo(3)) == [1, 2])
    #expect(values(Signal.of(1, 2).twice()) == [1, 1, 2, 2])
    #expect(values(Signal.of("a", "b").numbered()).map(\.0) == [0, 1])
    let failing = Recorder<Int>().subscribe(to: Signal<Int>.fail(CancellationError()).forgiving())
    #expect(failing.isCompleted)
  }

  @Test func `a pair is sent when its second value comes`() {
    var state = PairState()
    #expect(state.received(1) == .wait)
    #expect(state.received(2) == .send(1, 2))
    #expect(state.received(3) == .wait)
  }

  @Test func `the operators keep the laws`() async {
    for laws in [
      SignalLaws { $0.page(after: 0, limit: 1_000) }, SignalLaws { $0.doubled() },
      SignalLaws { $0.upTo(-1) }, SignalLaws { $0.twice() }, SignalLaws { $0.numbered().map(\.1) },
    ] {
      let breaches = await laws.breaches()
      #expect(breaches.isEmpty)
    }
  }
}
