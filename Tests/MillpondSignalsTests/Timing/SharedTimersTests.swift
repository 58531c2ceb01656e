import MillpondTesting
import Testing

@testable import MillpondSignals

@Suite struct SharedTimersTests {
  private let clock = ManualClock()
  private let timers: SharedTimers
  private let fired = Watched<[Int]>([])

  init() {
    timers = SharedTimers(Scheduler(clock))
  }

  @discardableResult
  private func schedule(_ seconds: Int) -> Disposable {
    let fired = fired
    return timers.schedule(after: .seconds(seconds)) { fired.change { $0.append(seconds) } }
  }

  @Test func `each action runs at its time, whatever the order in which they were set`() {
    for seconds in [5, 1, 3, 3] { schedule(seconds) }

    clock.advance(by: .seconds(2))
    #expect(fired.state == [1])
    clock.advance(by: .seconds(1))
    #expect(fired.state == [1, 3, 3])
    clock.advance(by: .seconds(10))

    #expect(fired.state == [1, 3, 3, 5])
    #expect(clock.pendingCount == 0)
  }

  @Test func `the clock has one timer, however many there are`() {
    for seconds in 1...100 { schedule(seconds) }

    #expect(clock.pendingCount == 1)
  }

  @Test func `a cancelled timer does not run, and the next one does`() {
    let first = schedule(1)
    schedule(2)

    first.dispose()
    clock.advance(by: .seconds(2))

    #expect(fired.state == [2])
  }

  @Test func `after a timer that fires in vain no other is set`() {
    schedule(1).dispose()

    #expect(clock.pendingCount == 1)
    clock.advance(by: .seconds(1))

    #expect(clock.pendingCount == 0)
    #expect(fired.state.isEmpty)
  }

  @Test func `an action may set the next`() {
    let fired = fired
    let timers = timers
    _ = timers.schedule(after: .seconds(1)) {
      _ = timers.schedule(after: .seconds(1)) { fired.change { $0.append(2) } }
    }

    clock.advance(by: .seconds(2))

    #expect(fired.state == [2])
  }

  @Test func `many threads that set and call off lose nothing`() async {
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for number in 0..<200 {
            let timer = schedule(1 + (thread * 31 + number) % 50)
            if number.isMultiple(of: 2) { timer.dispose() }
          }
        }
      }
    }

    clock.advance(by: .seconds(60))

    #expect(fired.state.count == 800)
    #expect(clock.pendingCount == 0)
  }
}
