import MillpondSignals
import MillpondTesting
import Testing

@Suite struct IntervalTests {
  let clock = ManualClock()
  let recorder = Recorder<Int>()

  @Test func `each tick sends its number, the first after one interval`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.seconds(2), clock: clock))

    clock.advance(by: .milliseconds(1_999))
    let before = recorder.values
    clock.advance(by: .milliseconds(4_001))

    #expect(before.isEmpty)
    #expect(recorder.transcript == ["next 0", "next 1", "next 2"])
    #expect(clock.pendingCount == 1)
  }

  @Test func `each subscription counts its own ticks`() {
    let interval = Signal.interval(.seconds(2), clock: clock)
    let first = interval.subscribe()
    clock.advance(by: .seconds(3))

    recorder.subscribe(to: interval)
    clock.advance(by: .seconds(2))

    #expect(recorder.values == [0])
    first.dispose()
    recorder.dispose()
  }

  @Test func `a tick that comes late does not delay those after it`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.seconds(1), clock: clock))
    clock.step(by: .milliseconds(1_400))
    clock.advance(by: .zero)

    clock.advance(by: .milliseconds(599))
    let early = recorder.values
    clock.advance(by: .milliseconds(1))

    #expect(early == [0])
    #expect(recorder.values == [0, 1])
  }

  @Test func `ticks that pass while the device sleeps send one value, with their number`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.seconds(1), clock: clock))
    clock.advance(by: .seconds(1))

    clock.step(by: .seconds(3_600))
    clock.advance(by: .zero)
    clock.advance(by: .seconds(1))

    #expect(recorder.values == [0, 3_600, 3_601])
  }

  @Test func `a subscriber that takes longer than an interval gets no burst`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.seconds(1), clock: clock)) { [clock] _ in
      clock.step(by: .milliseconds(3_500))
    }

    for _ in 0..<3 { clock.advance(by: .zero) }
    let early = recorder.values
    clock.advance(by: .seconds(1))
    let first = recorder.values
    clock.advance(by: .zero)

    #expect(early.isEmpty)
    #expect(first == [0])
    #expect(recorder.values == [0, 3])
  }

  @Test func `after disposal, also in a callback, no timer is left`() {
    recorder.subscribe(to: .interval(.seconds(1), clock: clock)) { [recorder] event in
      if case .next(1) = event { recorder.dispose() }
    }

    clock.advance(by: .seconds(9))

    #expect(recorder.values == [0, 1])
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [
    Duration.zero, .seconds(-1), Duration(secondsComponent: 0, attosecondsComponent: 1),
  ])
  func `an interval of nothing completes and sets no timer`(interval: Duration) {
    recorder.subscribe(to: .interval(interval, clock: clock))

    #expect(recorder.transcript == ["completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `more ticks than an Int can count do not trap`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.nanoseconds(1), clock: clock))

    clock.step(by: .seconds(Int64.max / 2))
    clock.advance(by: .zero)

    #expect(recorder.values == [.max])
  }

  @Test func `the longest interval does not trap`() {
    defer { recorder.dispose() }
    recorder.subscribe(to: .interval(.seconds(Int64.max), clock: clock))

    clock.advance(by: .seconds(Int64.max))

    #expect(recorder.values == [0])
  }

  @Test func `on the continuous clock the numbers grow`() async throws {
    recorder.subscribe(to: .interval(.milliseconds(1)).take(3))

    let values = try await recorder.values(count: 3)

    #expect(values == Set(values).sorted())
    #expect(values[0] >= 0)
  }
}
