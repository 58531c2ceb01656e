import MillpondSignals
import MillpondTesting
import Testing

/// The differences from `replayLast`, whose engine it is.
@Suite struct ReplayBufferTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test func `a late subscriber gets the last values and then the rest`() {
    let shared = source.signal.replay(2)
    early.subscribe(to: shared)
    for value in 1...3 { source.next(value) }
    source.progress(SignalProgress(completed: 1, total: 2))

    late.subscribe(to: shared)
    source.next(4)

    #expect(source.subscriptions == 1)
    #expect(early.values == [1, 2, 3, 4])
    #expect(late.transcript == ["progress 1/2", "next 2", "next 3", "next 4"])
  }

  @Test func `of fewer values than are kept, all are repeated`() {
    let shared = source.signal.replay(5)
    early.subscribe(to: shared)
    source.next(1)

    late.subscribe(to: shared)

    #expect(late.values == [1])
  }

  @Test func `of thousands the last ones are repeated, in order`() {
    let shared = source.signal.replay(100)
    early.subscribe(to: shared)
    for value in 0..<5_000 { source.next(value) }

    late.subscribe(to: shared)

    #expect(late.values == Array(4_900..<5_000))
  }

  @Test func `a subscriber that comes in a callback gets what came before, and then the rest`() {
    let shared = source.signal.replay(3)
    early.subscribe(to: shared) { [source, late] event in
      guard case .next(4) = event else { return }
      source.next(5)
      late.subscribe(to: shared)
    }

    for value in 1...4 { source.next(value) }
    source.completed()

    #expect(early.values == [1, 2, 3, 4, 5])
    #expect(late.values.suffix(3) == [3, 4, 5])
    #expect(late.isCompleted)
  }

  @Test func `a value that is sent during the replay comes after it`() {
    let shared = source.signal.replay(3)
    early.subscribe(to: shared)
    for value in 1...3 { source.next(value) }

    late.subscribe(to: shared) { [source] event in
      if case .next(1) = event { for value in 4...9 { source.next(value) } }
    }

    #expect(late.values == Array(1...9))
    #expect(early.values == Array(1...9))
  }

  @Test func `a value that is forgotten may subscribe when it is released`() {
    let pipe = PublishSubject<Witness>()
    let shared = pipe.signal.replay(2)
    let received = Journal<Bool>()
    shared.subscribe()

    pipe.next(Witness { shared.subscribe(onNext: { _ in received.write(true) }) })
    for _ in 0..<2 { pipe.next(Witness {}) }

    #expect(received.count == 2)
  }

  @Test(arguments: [true, false])
  func `after the end the last values and the end are repeated`(fails: Bool) {
    let shared = source.signal.replay(2)
    early.subscribe(to: shared)
    for value in 1...3 { source.next(value) }
    if fails { source.failed(Trouble.some) } else { source.completed() }

    late.subscribe(to: shared)

    #expect(late.transcript == ["next 2", "next 3", fails ? "failed some" : "completed"])
    #expect(source.subscriptions == 1)
  }

  @Test(arguments: [0, -1])
  func `less than one is taken as one`(count: Int) {
    let shared = source.signal.replay(count)
    early.subscribe(to: shared)
    source.next(1)
    source.next(2)

    late.subscribe(to: shared)

    #expect(late.values == [2])
  }

  @Test func `a limit that is never reached keeps all`() {
    let shared = Signal.from(0..<100).replay(.max)
    early.subscribe(to: shared)

    late.subscribe(to: shared)

    #expect(early.values == Array(0..<100))
    #expect(late.values == Array(0..<100))
  }

  @Test func `the last subscriber to leave drops the values`() {
    let shared = source.signal.replay(2)
    early.subscribe(to: shared)
    source.next(1)

    early.dispose()
    late.subscribe(to: shared)

    #expect(source.disposals == 1)
    #expect(source.subscriptions == 2)
    #expect(late.values.isEmpty)
  }

  @Test func `a run that is kept running is joined by the next subscriber`() {
    let shared = source.signal.replay(2, .keepRunning)
    early.subscribe(to: shared)
    source.next(1)

    early.dispose()
    source.next(2)
    late.subscribe(to: shared)

    #expect(source.disposals == 0)
    #expect(late.values == [1, 2])
  }

  @Test func `a subscriber that leaves during the replay stops the rest`() {
    let sent = Journal<Int>()
    let shared = Signal.of(1, 2, 3).replay(3)
    early.subscribe(to: shared)

    late.subscribe(to: shared.onNext { sent.write($0) }) { [late] _ in late.dispose() }

    #expect(sent.entries == [1])
  }

  @Test func `a subscriber that comes during a send gets each value once, in order`() async throws {
    let pipe = PublishSubject<Int>()
    let shared = pipe.signal.replay(1_000)
    let recorders = (0..<3).map { _ in Recorder<Int>() }
    recorders[0].subscribe(to: shared)

    try await race(3) { index in
      if index == 0 {
        for value in 0..<500 { pipe.next(value) }
        pipe.completed()
      } else {
        recorders[index].subscribe(to: shared)
      }
    }

    for recorder in recorders {
      try await recorder.ended()
      #expect(recorder.values == Array(0..<500))
      #expect(recorder.violations.isEmpty)
    }
  }
}
