import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TimerTests {
  let clock = ManualClock()
  let recorder = Recorder<Void>()

  @Test func `one value is sent when the time has passed, and then the end`() {
    recorder.subscribe(to: .timer(after: .seconds(2), clock: clock))

    clock.advance(by: .milliseconds(1_999))
    let before = recorder.events.count
    clock.advance(by: .milliseconds(1))

    #expect(before == 0)
    #expect(recorder.transcript == ["next ()", "completed"])
  }

  @Test func `the time is counted from the subscription`() {
    let timer = Signal.timer(after: .seconds(2), clock: clock)
    clock.advance(by: .seconds(5))

    recorder.subscribe(to: timer)
    clock.advance(by: .seconds(1))

    #expect(recorder.events.isEmpty)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `without a delay it fires inside the subscription`(delay: Duration) {
    recorder.subscribe(to: .timer(after: delay, clock: clock))

    #expect(recorder.transcript == ["next ()", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `after disposal no timer is left`() {
    recorder.subscribe(to: .timer(after: .seconds(2), clock: clock))

    recorder.dispose()

    #expect(clock.pendingCount == 0)
  }
}
