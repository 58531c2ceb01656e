import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SchedulerTests {
  let clock = ManualClock()

  /// A clock that is no `TimerClock`, so that the scheduler has to sleep in a task.
  struct PlainClock: Clock {
    let base: ManualClock
    var now: ManualClock.Instant { base.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test func `now follows the clock`() {
    let scheduler = Scheduler(clock)
    let start = scheduler.now()

    clock.advance(by: .seconds(3))

    #expect(scheduler.now() - start == .seconds(3))
  }

  @Test(arguments: [
    (Duration.milliseconds(1), 4_999), (.seconds(2), 5_000), (.seconds(86_400), 5_000),
  ])
  func `when a clock is set back, time goes on from where it was, within a second`(
    step: Duration, passed: Int
  ) {
    let scheduler = Scheduler(clock)
    clock.advance(by: .seconds(3))
    _ = scheduler.now()

    clock.step(by: .zero - step)
    #expect(scheduler.now() == .seconds(3))
    clock.advance(by: .seconds(5))

    #expect(scheduler.now() == .seconds(3) + .milliseconds(passed))
  }

  @Test func `a timer fires when its time has come, and once`() {
    let fired = Journal<Int>()
    _ = Scheduler(clock).schedule(after: .seconds(2)) { fired.write(1) }

    clock.advance(by: .milliseconds(1_999))
    let before = fired.count
    clock.advance(by: .milliseconds(1))
    clock.advance(by: .seconds(9))

    #expect(before == 0)
    #expect(fired.count == 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a delay that has passed already fires later, not inside the call`(delay: Duration) {
    let fired = Journal<Int>()
    _ = Scheduler(clock).schedule(after: delay) { fired.write(1) }
    let before = fired.count

    clock.advance(by: .zero)

    #expect(before == 0)
    #expect(fired.count == 1)
  }

  @Test func `a timer that is disposed of does not fire`() {
    let fired = Journal<Int>()
    let timer = Scheduler(clock).schedule(after: .seconds(1)) { fired.write(1) }

    timer.dispose()
    clock.run()

    #expect(fired.entries.isEmpty)
    #expect(clock.pendingCount == 0)
  }

  @Test func `on a plain clock a timer sleeps in a task`() async throws {
    let fired = Watched(false)
    _ = Scheduler(PlainClock(base: clock)).schedule(after: .seconds(1)) {
      fired.change { $0 = true }
    }
    try await clock.pending(count: 1)

    clock.advance(by: .seconds(1))

    try await fired.wait(for: "the timer") { $0 }
  }

  @Test func `a timer of a plain clock that is disposed of wakes up and does nothing`() async throws
  {
    let fired = Journal<Int>()
    let timer = Scheduler(PlainClock(base: clock)).schedule(after: .seconds(1)) { fired.write(1) }
    try await clock.pending(count: 1)

    timer.dispose()
    clock.run()

    #expect(fired.entries.isEmpty)
  }

  @Test func `an action that runs when its pause has ended does not find its task cancelled`()
    async throws
  {
    let isCancelled = Watched<Bool?>(nil)
    Scheduler(PlainClock(base: clock)).schedule(after: .seconds(1), during: Lifetime()) {
      isCancelled.change { $0 = Task.isCancelled }
    }
    try await clock.pending(count: 1)

    clock.advance(by: .seconds(1))

    try await isCancelled.wait(for: "the timer") { $0 != nil }
    #expect(isCancelled.state == false)
  }

  @Test func `on the continuous clock timers fire in order`() async throws {
    let scheduler = Scheduler(ContinuousClock())
    let fired = Watched<[Int]>([])

    for (number, delay) in [(2, 40), (1, 20), (0, 0)] {
      _ = scheduler.schedule(after: .milliseconds(delay)) { fired.change { $0.append(number) } }
    }

    try await fired.wait(for: "three timers") { $0.count == 3 }
    #expect(fired.state.sorted() == [0, 1, 2])
  }

  @Test func `a timer of the continuous clock may be set for ever, and disposed of twice`() {
    let scheduler = Scheduler(ContinuousClock())

    for delay in [Duration.seconds(Int64.max), .seconds(600)] {
      let timer = scheduler.schedule(after: delay) { Issue.record("it is not for ever yet") }
      timer.dispose()
      timer.dispose()
    }
  }

  @Test(
    arguments: [
      (Duration.zero, 0), (.seconds(-5), 0), (.nanoseconds(7), 7), (.seconds(2), 2_000_000_000),
      (.seconds(Int64.max), Int.max), (.seconds(9_223_372_036) + .milliseconds(999), Int.max),
    ])
  func `a duration in nanoseconds is clamped to what an Int holds`(duration: Duration, count: Int) {
    #expect(duration.nanoseconds == count)
  }
}
