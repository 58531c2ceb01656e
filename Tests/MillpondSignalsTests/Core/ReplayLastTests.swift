import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReplayLastTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()
  let shared: Signal<Int>
  let kept: Signal<Int>

  init() {
    shared = source.signal.replayLast()
    kept = source.signal.replayLast(.keepRunning)
  }

  @Test func `nothing runs before the first subscriber comes`() {
    #expect(source.subscriptions == 0)

    early.subscribe(to: shared)

    #expect(source.subscriptions == 1)
  }

  @Test func `all share one run`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    source.next(1)
    source.completed()

    #expect(source.subscriptions == 1)
    #expect(early.transcript == ["next 1", "completed"])
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `a late subscriber gets the latest progress and value, and then the rest`() {
    early.subscribe(to: shared)
    source.next(1)
    source.next(2)
    source.progress(SignalProgress(completed: 1, total: 4))
    source.progress(SignalProgress(completed: 2, total: 4))

    late.subscribe(to: shared)
    source.next(3)

    #expect(late.transcript == ["progress 2/4", "next 2", "next 3"])
  }

  @Test(arguments: [0, 1, 2, 5])
  func `a subscriber after the end gets the latest value and the end`(count: Int) {
    early.subscribe(to: shared)
    source.progress(SignalProgress(completed: 1))
    for value in 0..<count { source.next(value) }
    source.completed()

    late.subscribe(to: shared)

    #expect(late.transcript == (count == 0 ? [] : ["next \(count - 1)"]) + ["completed"])
    #expect(source.subscriptions == 1)
  }

  @Test func `a subscriber after a failure gets the latest value and the failure`() {
    early.subscribe(to: shared)
    source.next(1)
    source.failed(Trouble.some)

    late.subscribe(to: shared)

    #expect(late.transcript == ["next 1", "failed some"])
  }

  @Test func `a subscriber that leaves does not disturb the other`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    early.dispose()
    source.next(1)

    #expect(source.disposals == 0)
    #expect(early.events.isEmpty)
    #expect(late.values == [1])
  }

  @Test func `the last subscriber to leave disposes of the run`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    early.dispose()
    late.dispose()

    #expect(source.disposals == 1)
  }

  @Test func `after the last one has left, the next subscriber starts anew`() {
    early.subscribe(to: shared)
    source.next(1)
    early.dispose()

    late.subscribe(to: shared)
    source.next(2)

    #expect(source.subscriptions == 2)
    #expect(late.transcript == ["next 2"])
  }

  @Test func `a settled run is not disposed of when its subscribers leave`() {
    early.subscribe(to: shared)
    source.next(1)
    source.completed()
    early.dispose()

    late.subscribe(to: shared)

    #expect(source.disposals == 0)
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `with keepRunning the run goes on without subscribers`() {
    early.subscribe(to: kept)
    early.dispose()
    source.next(1)

    late.subscribe(to: kept)
    source.completed()

    #expect(source.subscriptions == 1)
    #expect(source.disposals == 0)
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `a synchronous upstream is shared, too`() {
    let runs = Locked(0)
    let shared = Signal.deferred {
      runs.withLock { $0 += 1 }
      return Signal.of(1, 2)
    }.replayLast()

    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(early.transcript == ["next 1", "next 2", "completed"])
    #expect(late.transcript == ["next 2", "completed"])
    #expect(runs.withLock { $0 } == 1)
  }

  @Test func `an operator below sees the settled value at once`() {
    let shared = Signal.of(1, 2).replayLast()
    early.subscribe(to: shared)

    late.subscribe(to: shared.map { $0 * 10 }.flatMap { .just($0 + 1) })

    #expect(late.transcript == ["next 21", "completed"])
  }

  @Test func `a subscriber whose lifetime has ended leaves no run behind`() {
    let lifetime = Lifetime()
    lifetime.end()

    shared.run(Observer(next: { _ in }, other: { _ in }), lifetime)

    #expect(source.activeRuns == 0)
    late.subscribe(to: shared)
    source.next(1)
    #expect(late.values == [1])
  }

  @Test func `a cancelled run that then fails does not settle the replay`() {
    let observers = Journal<Observer<Int>>()
    let shared = Signal<Int> { observer, lifetime in
      observers.write(observer)
      lifetime.onEnd { observer.failed(CancellationError()) }
    }.replayLast()
    early.subscribe(to: shared)
    early.dispose()

    late.subscribe(to: shared)
    observers.entries.last?.next(1)

    #expect(observers.count == 2)
    #expect(late.transcript == ["next 1"])
  }

  @Test func `values that a cancelled run still sends reach no observer`() {
    let observers = Journal<Observer<Int>>()
    let shared = Signal<Int> { observer, _ in observers.write(observer) }.replayLast()
    early.subscribe(to: shared)
    early.dispose()
    late.subscribe(to: shared)

    observers.entries[0].next(1)
    observers.entries[0].completed()
    observers.entries[1].next(2)

    #expect(late.transcript == ["next 2"])
  }

  @Test func `the value that is replaced is released`() {
    let released = Journal<Int>()
    let source = TestSource<Witness>()
    source.signal.replayLast().subscribe()

    for number in 0..<3 { source.next(Witness { released.write(number) }) }

    #expect(released.entries == [0, 1])
  }

  @Test func `progress that waits is conflated`() {
    early.subscribe(to: shared) { [source] event in
      guard case .next = event else { return }
      for step in 1...3 { source.progress(SignalProgress(completed: step)) }
    }

    source.next(1)

    #expect(early.progress.last == SignalProgress(completed: 3))
    #expect(early.progress.count == 1)
  }

  @Test func `a hundred thousand leave a run that goes on`() {
    let pipe = PublishSubject<Int>()
    let shared = pipe.signal.replayLast()
    let handles = (0..<100_000).map { _ in shared.subscribe() }
    let recorder = Recorder<Int>().subscribe(to: shared)

    for handle in handles { handle.dispose() }
    pipe.next(1)

    #expect(recorder.values == [1])
  }

  @Test func `a replay without references is released with its value`() {
    let released = Journal<Int>()
    do {
      let source = TestSource<Witness>()
      let shared = source.signal.replayLast()
      shared.subscribe()
      source.next(Witness { released.write(1) })
      source.completed()
      #expect(released.entries.isEmpty)
    }

    #expect(released.entries == [1])
  }
}
