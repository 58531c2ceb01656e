import MillpondSignals
import MillpondTesting
import Testing

/// The promises of all strategies; those of one are beside its engine.
@Suite struct FlatMapTests {
  let outer = TestSource<Int>()
  let inner = TestSource<Int>()
  let recorder = Recorder<Int>()

  static let strategies: [FlatMapStrategy] = [.concat, .merge, .merge(atMost: 2), .latest]

  func subscribe(_ strategy: FlatMapStrategy) {
    recorder.subscribe(to: outer.signal.flatMap(strategy) { [inner] _ in inner.signal })
  }

  @Test(arguments: strategies)
  func `the values are those of the inner signals`(strategy: FlatMapStrategy) {
    subscribe(strategy)

    outer.next(0)
    inner.next(1)
    inner.next(2)
    inner.completed()
    outer.completed()

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test(arguments: strategies)
  func `it completes with the last inner signal, not before`(strategy: FlatMapStrategy) {
    subscribe(strategy)
    outer.next(0)
    outer.completed()
    let wasEnded = recorder.end != nil

    inner.next(1)
    inner.completed()

    #expect(!wasEnded)
    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test(arguments: strategies)
  func `without a value it completes with the outer signal`(strategy: FlatMapStrategy) {
    subscribe(strategy)

    outer.completed()

    #expect(recorder.transcript == ["completed"])
    #expect(inner.subscriptions == 0)
  }

  @Test(arguments: strategies)
  func `a failure of an inner signal ends all`(strategy: FlatMapStrategy) {
    subscribe(strategy)
    outer.next(0)

    inner.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(outer.disposals == 1)
  }

  @Test(arguments: strategies)
  func `a failure of the outer signal ends all`(strategy: FlatMapStrategy) {
    subscribe(strategy)
    outer.next(0)

    outer.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(inner.disposals == 1)
  }

  @Test(arguments: strategies)
  func `progress is the outer signal's until an inner one runs`(strategy: FlatMapStrategy) {
    subscribe(strategy)

    outer.progress(SignalProgress(completed: 1, total: 2))
    outer.next(0)
    outer.progress(SignalProgress(completed: 2, total: 2))
    inner.progress(SignalProgress(completed: 3, total: 9))

    #expect(recorder.transcript == ["progress 1/2", "progress 3/9"])
  }

  @Test(arguments: strategies)
  func `disposal reaches the outer and the inner signals`(strategy: FlatMapStrategy) {
    subscribe(strategy)
    outer.next(0)

    recorder.dispose()
    inner.next(1)

    #expect(outer.disposals == 1)
    #expect(inner.disposals == 1)
    #expect(recorder.events.isEmpty)
  }

  @Test(arguments: strategies)
  func `after disposal no inner signal is started`(strategy: FlatMapStrategy) {
    let box = Box<Observer<Int>>()
    recorder.subscribe(
      to: Signal<Int> { observer, _ in box.put(observer) }
        .flatMap(strategy) { [inner] _ in inner.signal })

    recorder.dispose()
    box.value?.next(0)

    #expect(inner.activeRuns == 0)
    #expect(inner.subscriptions == 0)
  }

  @Test(arguments: strategies)
  func `a hundred thousand synchronous inner signals do not overflow the stack`(
    strategy: FlatMapStrategy
  ) {
    let count = Locked(0)

    recorder.subscribe(
      to: Signal.from(0..<100_000)
        .flatMap(strategy) { _ in Signal<Int>.from(CollectionOfOne(1)) }
        .onNext { _ in count.withLock { $0 += 1 } }.filter { _ in false })

    #expect(count.withLock { $0 } == 100_000)
    #expect(recorder.isCompleted)
  }

  @Test(arguments: strategies)
  func `settled inner signals are sent in order`(strategy: FlatMapStrategy) {
    recorder.subscribe(to: Signal.of(1, 2, 3).flatMap(strategy) { .just($0 * 10) })

    #expect(recorder.transcript == ["next 10", "next 20", "next 30", "completed"])
  }

  @Test(arguments: strategies)
  func `a subscriber that leaves in a callback stops the rest`(strategy: FlatMapStrategy) {
    recorder.subscribe(to: Signal.from(0..<1_000).flatMap(strategy) { Signal.of($0, $0) }) {
      [recorder] _ in recorder.dispose()
    }

    #expect(recorder.transcript == ["next 0"])
  }

  /// Cancelling work that then reports its cancellation must not hide the true failure.
  @Test(arguments: strategies)
  func `an outer signal that fails after it was cancelled hides no failure`(
    strategy: FlatMapStrategy
  ) {
    let box = Box<Observer<Int>>()
    let sensitive = Signal<Int> { observer, lifetime in
      box.put(observer)
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: sensitive.flatMap(strategy) { [inner] _ in inner.signal })
    box.value?.next(0)

    inner.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(recorder.violations.isEmpty)
  }

  @Test(arguments: strategies)
  func `an inner signal that fails after it was cancelled hides no failure`(
    strategy: FlatMapStrategy
  ) {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: outer.signal.flatMap(strategy) { _ in sensitive })
    outer.next(0)

    outer.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(recorder.violations.isEmpty)
  }

  @Test(arguments: strategies)
  func `ends on many threads give one end`(strategy: FlatMapStrategy) async throws {
    for _ in 0..<200 {
      let outer = TestSource<Int>()
      let inner = TestSource<Int>()
      let recorder = Recorder<Int>()
      recorder.subscribe(to: outer.signal.flatMap(strategy) { _ in inner.signal })
      for value in 0..<3 { outer.next(value) }

      try await race(3) { index in
        switch index {
        case 0: outer.completed()
        case 1: for run in inner.runs { run.completed() }
        default: inner.runs.last?.failed(Trouble.some)
        }
      }
      for run in inner.runs { run.completed() }
      while recorder.end == nil, let run = inner.runs.last(where: \.isActive) { run.completed() }
      try await recorder.ended()

      #expect(recorder.violations.isEmpty)
    }
  }
}
