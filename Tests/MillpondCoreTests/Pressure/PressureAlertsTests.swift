import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct PressureAlertsTests {
  let source = TestSource<MemoryPressure?>()
  let clock = ManualClock()

  private func alerts(_ pause: Duration = .seconds(30)) -> Signal<MemoryPressure> {
    source.signal.alerts(repeatingEvery: pause, Scheduler(clock))
  }

  private func report(_ levels: MemoryPressure?...) {
    for level in levels { source.next(level) }
  }

  @Test func `each rise is reported at once, whatever it comes from`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())

    report(nil, .warning, .critical, nil, .critical, nil, .warning)

    #expect(recorder.values == [.warning, .critical, .critical, .warning])
  }

  @Test func `a level that stays is reported again after each pause, however often it is read`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())
    report(.warning)

    for _ in 0..<59 {
      clock.advance(by: .seconds(1))
      report(.warning)
    }

    #expect(recorder.values == [.warning, .warning])
    clock.advance(by: .seconds(1))
    #expect(recorder.values == [.warning, .warning, .warning])
  }

  @Test func `a fall is not reported, and the rest is reported again at its time`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())
    report(.critical)
    clock.advance(by: .seconds(20))

    report(.warning)

    #expect(recorder.values == [.critical])
    clock.advance(by: .seconds(10))
    #expect(recorder.values == [.critical, .warning])
  }

  @Test func `a rise delays the next repeated report`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())
    report(.warning)
    clock.advance(by: .seconds(29))

    report(.critical)

    clock.advance(by: .seconds(29))
    #expect(recorder.values == [.warning, .critical])
    clock.advance(by: .seconds(1))
    #expect(recorder.values == [.warning, .critical, .critical])
  }

  @Test func `calm ends it, timer and all`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())
    report(.critical)

    report(nil)

    #expect(clock.pendingCount == 0)
    clock.advance(by: .seconds(100))
    #expect(recorder.values == [.critical])
  }

  @Test func `a listener that comes while memory is short is notified at once, by the same watch`()
  {
    let alerts = alerts()
    let first = Recorder<MemoryPressure>().subscribe(to: alerts)
    report(.warning)

    let second = Recorder<MemoryPressure>().subscribe(to: alerts)

    #expect(second.values == [.warning] && first.values == [.warning])
    #expect(source.subscriptions == 1)
  }

  @Test func `a watcher that comes after the end receives nothing`() {
    let alerts = alerts()
    let first = Recorder<MemoryPressure>().subscribe(to: alerts)
    report(.warning, nil)

    let second = Recorder<MemoryPressure>().subscribe(to: alerts)

    #expect(second.values.isEmpty && first.values == [.warning])
  }

  @Test func `a caller that leaves does not disturb the others`() {
    let alerts = alerts()
    let first = Recorder<MemoryPressure>().subscribe(to: alerts)
    let second = Recorder<MemoryPressure>().subscribe(to: alerts)
    report(.warning)

    first.dispose()

    report(.critical)
    clock.advance(by: .seconds(30))
    #expect(first.values == [.warning])
    #expect(second.values == [.warning, .critical, .critical])
  }

  @Test func `the last listener that leaves ends the watch, and the next one begins anew`() {
    let alerts = alerts()
    let recorders = (0..<2).map { _ in Recorder<MemoryPressure>().subscribe(to: alerts) }
    report(.warning)

    for recorder in recorders { recorder.dispose() }

    #expect(source.activeRuns == 0 && clock.pendingCount == 0)
    let next = Recorder<MemoryPressure>().subscribe(to: alerts)
    #expect(source.activeRuns == 1 && next.values.isEmpty)
  }

  @Test func `a failure passes, and nothing is sent again`() {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts())
    report(.warning)

    source.failed(CacheError.miss)

    #expect(recorder.failure is CacheError && clock.pendingCount == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `no pause is a short one`(pause: Duration) {
    let recorder = Recorder<MemoryPressure>().subscribe(to: alerts(pause))
    report(.warning)

    clock.advance(by: .milliseconds(3))

    #expect(recorder.values.count == 4)
  }
}
