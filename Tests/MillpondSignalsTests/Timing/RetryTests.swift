import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RetryTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  func subscribe(_ policy: RetryPolicy) {
    recorder.subscribe(to: source.signal.retry(policy, clock: clock))
  }

  @Test func `a failed attempt is followed by another, the values of both pass`() {
    subscribe(.immediate(attempts: 2))
    source.next(1)
    source.failed(Trouble.some)
    source.next(2)
    source.completed()

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
    #expect(source.subscriptions == 2)
  }

  @Test func `the failure of the last attempt passes`() {
    subscribe(.immediate(attempts: 3))
    for _ in 0..<3 { source.failed(Trouble.some) }

    #expect(source.subscriptions == 3)
    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `the next attempt begins when the pause is over`() {
    subscribe(.backoff(attempts: 3, from: .seconds(1), upTo: .seconds(9), jitter: 0))
    source.failed(Trouble.some)
    let atOnce = source.subscriptions
    clock.advance(by: .seconds(1))
    source.failed(Trouble.some)
    clock.advance(by: .milliseconds(1_999))
    let early = source.subscriptions

    clock.advance(by: .milliseconds(1))

    #expect(atOnce == 1)
    #expect(early == 2)
    #expect(source.subscriptions == 3)
  }

  @Test func `progress is that of the running attempt`() {
    subscribe(.immediate(attempts: 2))
    source.progress(SignalProgress(completed: 5, total: 9))
    source.failed(Trouble.some)
    source.progress(SignalProgress(completed: 1, total: 9))

    #expect(recorder.transcript == ["progress 5/9", "progress 1/9"])
  }

  @Test func `the lifetime of an attempt ends once, before the next attempt begins`() {
    let journal = Journal<String>()
    let signal = Signal<Int> { observer, lifetime in
      journal.write("start")
      lifetime.onEnd { journal.write("end") }
      observer.failed(Trouble.some)
    }

    recorder.subscribe(to: signal.retry(.immediate(attempts: 2), clock: clock))

    #expect(journal.entries == ["start", "end", "start", "end"])
  }

  @Test func `disposal during a pause leaves no timer`() {
    subscribe(.backoff(attempts: 3, from: .seconds(1), upTo: .seconds(9)))
    source.failed(Trouble.some)

    recorder.dispose()

    #expect(clock.pendingCount == 0)
    #expect(recorder.events.isEmpty)
  }

  @Test func `disposal reaches the running attempt`() {
    subscribe(.immediate(attempts: 3))
    source.failed(Trouble.some)

    recorder.dispose()

    #expect(source.disposals == 1)
    #expect(source.subscriptions == 2)
  }

  @Test func `a failure after disposal is not retried`() {
    let starts = Journal<Int>()
    let signal = Signal<Int> { observer, lifetime in
      starts.write(1)
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: signal.retry(.immediate(attempts: 9), clock: clock))

    recorder.dispose()

    #expect(starts.count == 1)
    #expect(recorder.events.isEmpty)
  }

  @Test func `a hundred thousand attempts that fail at once use constant stack`() {
    let starts = Locked(0)
    let signal = Signal<Int> { observer, _ in
      starts.withLock { $0 += 1 }
      observer.failed(Trouble.some)
    }

    recorder.subscribe(to: signal.retry(.immediate(attempts: 100_000), clock: clock))

    #expect(starts.withLock { $0 } == 100_000)
    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `a failure that races the start of its attempt is retried once`() async throws {
    for _ in 0..<200 {
      let recorder = Recorder<Int>()
      let starts = Locked(0)
      let signal = Signal<Int> { observer, _ in
        let number = starts.withLock {
          $0 += 1
          return $0
        }
        onThread { if number < 3 { observer.failed(Trouble.some) } else { observer.completed() } }
      }

      recorder.subscribe(to: signal.retry(.immediate(attempts: 5), clock: clock))
      try await recorder.ended()

      #expect(starts.withLock { $0 } == 3)
      #expect(recorder.transcript == ["completed"])
    }
  }

  @Test func `a settled signal is left as it is`() {
    recorder.subscribe(to: Signal.just(1).retry(.immediate(attempts: 2), clock: clock))

    #expect(recorder.transcript == ["next 1", "completed"])
  }
}
