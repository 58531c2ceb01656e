import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// The time that a function has for its answer.
@Suite struct AnswerLimitTests {
  private let clock = ManualClock()
  private let answer = TestSource<Int>()

  private func limited(_ time: Duration? = .seconds(60)) -> Recorder<Int> {
    let limit = AnswerLimit(time, on: SharedTimers(Scheduler(clock)))
    return Recorder<Int>().subscribe(to: limit.applied(to: answer.signal, "a"))
  }

  @Test func `a mute answer fails when its time is over, with its key, and its work ends`() {
    let mute = limited()

    clock.advance(by: .seconds(59))
    #expect(mute.end == nil)
    clock.advance(by: .seconds(1))

    guard case SignalError.timedOut(.seconds(60), key: "a")? = mute.failure else {
      Issue.record("\(mute.transcript)")
      return
    }
    #expect(answer.disposals == 1)
  }

  @Test func `what has begun to answer in time has time`() {
    let slow = limited()
    answer.progress(SignalProgress(completed: 1))

    clock.advance(by: .seconds(600))
    answer.next(1)
    answer.completed()

    #expect(slow.transcript == ["progress 1/?", "next 1", "completed"])
  }

  @Test func `without a limit an answer may take for ever`() {
    let mute = limited(nil)

    clock.advance(by: .days(1_000))

    #expect(mute.end == nil)
  }

  @Test func `who leaves hears nothing of the limit`() {
    let mute = limited()
    mute.dispose()

    clock.advance(by: .seconds(60))

    #expect(mute.transcript == [])
    #expect(answer.disposals == 1)
  }

  @Test func `functions have a minute by default, and signals and synchronous functions none`() {
    let limits: [Duration?] = [
      FunctionSource<Int, Int> { $0 }.limit.time,
      FunctionSource<Int, Int>(timeLimit: nil) { $0 }.limit.time,
      FunctionSource<Int, Int>.callback { _, _ in }.limit.time,
      FunctionSource<Int, Int>.validating { _, _ in .notModified() }.limit.time,
      FunctionSource<Int, Int>.signal { _ in .empty }.limit.time,
      FunctionSource<Int, Int>.sync { $0 }.limit.time,
    ]

    #expect(limits == [.minutes(1), nil, .minutes(1), .minutes(1), nil, nil])
  }
}
