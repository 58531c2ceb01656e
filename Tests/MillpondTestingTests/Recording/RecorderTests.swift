import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RecorderTests {
  enum Trouble: Error { case some }

  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `received events are recorded`() {
    recorder.subscribe(to: source.signal)

    source.progress(SignalProgress(completed: 1))
    source.next(2)
    source.completed()

    #expect(recorder.transcript == ["progress 1/?", "next 2", "completed"])
    #expect(recorder.values == [2])
    #expect(recorder.progress == [SignalProgress(completed: 1)])
    #expect(recorder.events.count == 3)
    #expect(recorder.isCompleted)
    #expect(recorder.failure == nil)
  }

  @Test func `a failure is written down`() {
    recorder.subscribe(to: source.signal)

    source.failed(Trouble.some)

    #expect(recorder.failure is Trouble)
    #expect(!recorder.isCompleted)
    #expect(recorder.end?.isTerminal == true)
  }

  @Test func `disposal stops the signal and is silence`() {
    recorder.subscribe(to: source.signal)

    recorder.dispose()
    source.next(1)

    #expect(source.disposals == 1)
    #expect(recorder.events.isEmpty)
  }

  @Test func `an event after the end is a violation`() {
    let signal = Signal<Int> { observer, _ in
      observer.completed()
      observer.next(1)
    }

    recorder.subscribe(to: signal)

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations == [.afterEnd(event: "next 1")])
    #expect("\(recorder.violations)".contains("next 1 came after the end"))
  }

  @Test func `a second end is a violation`() {
    let signal = Signal<Int> { observer, _ in
      observer.failed(Trouble.some)
      observer.completed()
    }

    recorder.subscribe(to: signal)

    #expect(recorder.violations == [.afterEnd(event: "completed")])
  }

  @Test func `a delivery during another one is a violation`() {
    let source = source
    let other = TestSource<Int>()
    let unguarded = Signal<Int> { observer, _ in
      source.signal.subscribe(onNext: { observer.next($0) })
      other.signal.subscribe(onNext: { observer.next($0) })
    }
    recorder.subscribe(to: unguarded) { event in
      if case .next(1) = event { other.next(2) }
    }

    source.next(1)

    #expect(recorder.violations == [.overlap(event: "next 2")])
  }

  @Test func `one can wait for values and for the end`() async throws {
    recorder.subscribe(to: source.signal)
    async let two = recorder.values(count: 2)
    async let end = recorder.ended()

    for value in 1...3 { source.next(value) }
    source.completed()

    #expect(try await two == [1, 2])
    #expect(try await end.isTerminal)
  }

  @Test func `waiting for values that can't come any more is an error`() async {
    recorder.subscribe(to: .of(1, 2))

    await #expect {
      try await recorder.values(count: 3)
    } throws: { error in
      "\(error)" == "waited for 3 values; the signal ended with [next 1, next 2, completed]"
    }
  }

  @Test func `a task that waits can be cancelled`() async {
    let task = Task { [recorder] in try await recorder.ended() }

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
