import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TimeoutTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()
  let isLate = "failed \(SignalError.timedOut(after: .seconds(2)))"

  func subscribe(_ awaited: TimeoutAwaited) {
    recorder.subscribe(to: source.signal.timeout(.seconds(2), awaiting: awaited, clock: clock))
  }

  @Test(arguments: [TimeoutAwaited.firstValue, .nextEvent, .end])
  func `silence fails it and stops the upstream`(awaited: TimeoutAwaited) {
    subscribe(awaited)
    clock.advance(by: .milliseconds(1_999))
    let early = recorder.events.count

    clock.advance(by: .milliseconds(1))

    #expect(early == 0)
    #expect(recorder.transcript == [isLate])
    #expect(source.disposals == 1)
    #expect(clock.pendingCount == 0)
  }

  @Test func `the first value calls it off`() {
    subscribe(.firstValue)
    source.next(1)

    clock.advance(by: .seconds(9))

    #expect(recorder.transcript == ["next 1"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `progress is not the first value`() {
    subscribe(.firstValue)
    clock.advance(by: .seconds(1))
    source.progress(SignalProgress(completed: 1))

    clock.advance(by: .seconds(1))

    #expect(recorder.transcript == ["progress 1/?", isLate])
  }

  @Test func `each event, progress too, gives the next one the whole time`() {
    subscribe(.nextEvent)
    clock.advance(by: .seconds(1))
    source.progress(SignalProgress(completed: 1))
    clock.advance(by: .milliseconds(1_500))
    source.next(1)
    clock.advance(by: .milliseconds(1_500))
    let alive = recorder.transcript

    clock.advance(by: .milliseconds(500))

    #expect(alive == ["progress 1/?", "next 1"])
    #expect(recorder.transcript == ["progress 1/?", "next 1", isLate])
  }

  @Test func `a slow drip of values does not postpone the timeout`() {
    subscribe(.end)
    for step in 0..<3 {
      source.next(step)
      clock.advance(by: .seconds(1))
    }

    #expect(recorder.transcript == ["next 0", "next 1", isLate])
  }

  @Test(arguments: [TimeoutAwaited.firstValue, .nextEvent, .end])
  func `an end in time passes, and leaves no timer`(awaited: TimeoutAwaited) {
    subscribe(awaited)
    source.completed()

    #expect(recorder.transcript == ["completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `an upstream that fails after it was cancelled is ignored`() {
    let signal = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: signal.timeout(.seconds(1), clock: clock))

    clock.run()

    #expect(recorder.transcript == ["failed \(SignalError.timedOut(after: .seconds(1)))"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an answer that is ready needs no timer`() {
    recorder.subscribe(to: Signal.just(1).timeout(.zero, clock: clock))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test(arguments: [TimeoutAwaited.firstValue, .nextEvent, .end])
  func `of zero, what is sent inside the subscription is in time`(awaited: TimeoutAwaited) {
    recorder.subscribe(to: Signal.of(1, 2).timeout(.zero, awaiting: awaited, clock: clock))

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `disposal leaves no timer`() {
    subscribe(.end)

    recorder.dispose()

    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test func `a value that races the timeout never comes after the end`() async throws {
    for _ in 0..<200 {
      let clock = ManualClock()
      let source = TestSource<Int>()
      let recorder = Recorder<Int>()
      recorder.subscribe(to: source.signal.timeout(.seconds(1), clock: clock))

      try await race(2) { index in
        if index == 0 {
          source.next(1)
          source.completed()
        } else {
          clock.advance(by: .seconds(1))
        }
      }
      try await recorder.ended()

      #expect(recorder.violations.isEmpty)
      #expect(recorder.values.isEmpty || recorder.isCompleted)
    }
  }
}
