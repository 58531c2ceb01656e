import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ThrottleTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  func subscribe(latest: Bool) {
    recorder.subscribe(to: source.signal.throttle(.seconds(1), latest: latest, clock: clock))
  }

  @Test func `the first value passes at once, the newest of the others when the time is over`() {
    subscribe(latest: true)
    for value in 1...3 { source.next(value) }
    let atOnce = recorder.values

    clock.advance(by: .seconds(1))

    #expect(atOnce == [1])
    #expect(recorder.values == [1, 3])
  }

  @Test func `a value that is sent when the time is over opens the next interval`() {
    subscribe(latest: true)
    source.next(1)
    source.next(2)
    clock.advance(by: .seconds(1))

    source.next(3)
    let atOnce = recorder.values
    clock.advance(by: .seconds(1))

    #expect(atOnce == [1, 2])
    #expect(recorder.values == [1, 2, 3])
  }

  @Test func `a value after a pause passes at once`() {
    subscribe(latest: true)
    source.next(1)
    clock.advance(by: .seconds(5))

    source.next(2)

    #expect(recorder.values == [1, 2])
  }

  @Test func `with the first, those within the interval are dropped, without a timer`() {
    subscribe(latest: false)
    for value in 1...3 { source.next(value) }
    let pending = clock.pendingCount
    clock.advance(by: .seconds(1))
    source.next(4)
    source.next(5)
    source.completed()

    #expect(pending == 0)
    #expect(recorder.transcript == ["next 1", "next 4", "completed"])
  }

  @Test func `the value that waits is sent before the completion`() {
    subscribe(latest: true)
    for value in 1...3 { source.next(value) }
    source.completed()

    #expect(recorder.transcript == ["next 1", "next 3", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `a failure drops what waits, progress passes at once`() {
    subscribe(latest: true)
    source.next(1)
    source.next(2)
    source.progress(SignalProgress(completed: 1))
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["next 1", "progress 1/?", "failed some"])
  }

  @Test func `after disposal no timer is left`() {
    subscribe(latest: true)
    source.next(1)
    source.next(2)

    recorder.dispose()

    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `without an interval all values pass`(interval: Duration) {
    recorder.subscribe(to: Signal.of(1, 2, 3).throttle(interval, clock: clock))

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
  }

  @Test func `a value that passes before the late timer of an older one drops that`() {
    var rule = ThrottleRule<Int>(interval: .seconds(3), latest: true)
    _ = rule.received(.next(1), at: .zero)
    _ = rule.received(.next(2), at: .seconds(1))

    let passed = rule.received(.next(3), at: .seconds(4))

    #expect(passed.map { "\($0)" } == "next(3)")
    #expect(rule.deadline == nil)
  }
}
