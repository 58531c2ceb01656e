import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DelayTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  init() {
    recorder.subscribe(to: source.signal.delay(.seconds(2), clock: clock))
  }

  @Test func `each value keeps its distance, and so does the completion`() {
    source.next(1)
    clock.advance(by: .seconds(1))
    source.next(2)
    source.completed()

    clock.advance(by: .seconds(1))
    let afterTwo = recorder.transcript
    clock.advance(by: .seconds(1))

    #expect(afterTwo == ["next 1"])
    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `values of one time pass in their order, with one timer`() {
    for value in 0..<100 { source.next(value) }
    let pending = clock.pendingCount

    clock.advance(by: .seconds(2))

    #expect(pending == 1)
    #expect(recorder.values == Array(0..<100))
  }

  @Test func `the upstream's lifetime ends with the upstream`() {
    let ends = Journal<Int>()
    let signal = Signal<Int> { observer, lifetime in
      lifetime.onEnd { ends.write(1) }
      observer.next(1)
      observer.completed()
    }
    Recorder<Int>().subscribe(to: signal.delay(.seconds(2), clock: clock))

    #expect(ends.entries == [1])
  }

  @Test func `a failure is not held back, and drops what waits`() {
    source.next(1)
    source.failed(Trouble.some)
    clock.run()

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `progress is not held back`() {
    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))

    #expect(recorder.transcript == ["progress 1/2"])
  }

  @Test func `after disposal no timer is left, and nothing is sent`() {
    source.next(1)

    recorder.dispose()
    clock.run()

    #expect(recorder.events.isEmpty)
    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test func `leaving in the callback of the first of two is silence`() {
    let other = Recorder<Int>()
    other.subscribe(to: Signal.of(1, 2).delay(.seconds(1), clock: clock)) { _ in other.dispose() }

    clock.run()

    #expect(other.transcript == ["next 1"])
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `without a delay everything passes at once`(delay: Duration) {
    let other = Recorder<Int>()
    other.subscribe(to: Signal.of(1, 2).delay(delay, clock: clock))

    #expect(other.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `a hundred thousand values that wait are sent with constant stack`() {
    let count = Locked(0)
    let signal = Signal.from(0..<100_000).delay(.seconds(1), clock: clock)
    signal.subscribe(onNext: { _ in count.withLock { $0 += 1 } })

    clock.run()

    #expect(count.withLock { $0 } == 100_000)
  }
}
