import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ManualClockTests {
  let clock = ManualClock()
  let fired = Watched<[String]>([])

  func schedule(_ name: String, after delay: Duration) -> Disposable {
    clock.schedule(after: delay) { [fired] in fired.change { $0.append(name) } }
  }

  @Test func `time stands still until it is advanced`() {
    let start = clock.now

    clock.advance(by: .seconds(2))

    #expect(start == ManualClock.Instant(offset: .zero))
    #expect(start.duration(to: clock.now) == .seconds(2))
  }

  @Test func `time does not run backwards`() {
    clock.advance(by: .seconds(2))

    clock.advance(by: .seconds(-1))

    #expect(clock.now.offset == .seconds(2))
  }

  @Test func `a step sets the time forward or back, and fires nothing until time passes`() {
    _ = schedule("a", after: .seconds(2))

    clock.step(by: .seconds(5))
    #expect(clock.now.offset == .seconds(5))
    #expect(fired.state == [])
    clock.step(by: .seconds(-9))
    #expect(clock.now.offset == .seconds(-4))
    clock.advance(by: .seconds(5))
    #expect(fired.state == [])
    clock.advance(by: .seconds(1))

    #expect(fired.state == ["a"])
    #expect(clock.now.offset == .seconds(2))
  }

  @Test func `timers fire by deadline, and of one deadline in the order they were set`() {
    for (name, delay) in [("c", 3), ("a1", 1), ("b", 2), ("a2", 1), ("a3", 1)] {
      _ = schedule(name, after: .seconds(delay))
    }

    clock.advance(by: .seconds(3))

    #expect(fired.state == ["a1", "a2", "a3", "b", "c"])
  }

  @Test func `only what is due fires`() {
    _ = schedule("a", after: .seconds(1))
    _ = schedule("b", after: .seconds(2))

    clock.advance(by: .seconds(1))

    #expect(fired.state == ["a"])
    #expect(clock.pendingCount == 1)
  }

  @Test func `a timer sees its own time, also in a long step`() {
    let seen = Watched<Duration>(.zero)
    clock.schedule(after: .seconds(1)) { [clock] in seen.change { $0 = clock.now.offset } }

    clock.advance(by: .seconds(5))

    #expect(seen.state == .seconds(1))
    #expect(clock.now.offset == .seconds(5))
  }

  @Test func `a timer without delay waits for the clock all the same`() {
    _ = schedule("a", after: .zero)
    let before = fired.state

    clock.advance(by: .zero)

    #expect(before.isEmpty)
    #expect(fired.state == ["a"])
  }

  @Test func `a timer that a firing one sets fires in the same step if it is due in it`() {
    clock.schedule(after: .seconds(1)) { [clock, fired] in
      clock.schedule(after: .seconds(1)) { fired.change { $0.append("within") } }
      clock.schedule(after: .seconds(9)) { fired.change { $0.append("beyond") } }
    }

    clock.advance(by: .seconds(2))

    #expect(fired.state == ["within"])
    #expect(clock.pendingCount == 1)
  }

  @Test func `run goes on until nothing is scheduled`() {
    clock.schedule(after: .seconds(1)) { [clock, fired] in
      clock.schedule(after: .seconds(60)) { fired.change { $0.append("last") } }
    }

    clock.run()

    #expect(fired.state == ["last"])
    #expect(clock.now.offset == .seconds(61))
    #expect(clock.pendingCount == 0)
  }

  @Test func `a timer that was called off does not fire, and another may call it off`() {
    let second = schedule("second", after: .seconds(2))
    clock.schedule(after: .seconds(1)) { second.dispose() }
    schedule("third", after: .seconds(1)).dispose()

    clock.run()

    #expect(fired.state.isEmpty)
  }

  @Test func `calling off the middle one of equal timers leaves the others`() {
    let timers = ["a", "b", "c"].map { schedule($0, after: .seconds(1)) }

    timers[1].dispose()
    timers[1].dispose()
    clock.run()

    #expect(fired.state == ["a", "c"])
  }

  @Test func `advancing inside a timer moves time on`() {
    clock.schedule(after: .seconds(1)) { [clock] in clock.advance(by: .seconds(10)) }
    _ = schedule("inner", after: .seconds(5))

    clock.advance(by: .seconds(2))

    #expect(fired.state == ["inner"])
    #expect(clock.now.offset == .seconds(11))
  }

  @Test func `a task that sleeps goes on when its time has come`() async throws {
    let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    try await clock.pending(count: 1)

    clock.advance(by: .seconds(1))

    try await task.value
    #expect(clock.pendingCount == 0)
  }

  @Test func `sleeping until a time that has passed returns at once`() async throws {
    clock.advance(by: .seconds(1))

    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(1)))

    #expect(clock.pendingCount == 0)
  }

  @Test func `cancelling a task that sleeps wakes it with an error`() async throws {
    let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    try await clock.pending(count: 1)

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.pendingCount == 0)
  }

  @Test func `two thousand timers set in any order fire in theirs`() {
    let seen = Watched<[Int]>([])
    var generator = SystemRandomNumberGenerator()
    for delay in (0..<2_000).shuffled(using: &generator) {
      clock.schedule(after: .seconds(delay)) { seen.change { $0.append(delay) } }
    }

    clock.run()

    #expect(seen.state == Array(0..<2_000))
  }
}
