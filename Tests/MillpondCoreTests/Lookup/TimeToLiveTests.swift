import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct TimeToLiveTests {
  @Test func `never is never, from whenever on`() {
    for start in [Int64.min, -1, 0, 1, .max] {
      #expect(TimeToLive.forever.deadline(from: start) == .max)
      #expect(TimeToLive.forever.deadline(from: start, share: 0) == .max)
    }
  }

  @Test func `a time is over that long after its start`() {
    let time = TimeToLive.after(.seconds(2))

    #expect(time.deadline(from: 0) == 2_000_000_000)
    #expect(time.deadline(from: -5) == 1_999_999_995)
    #expect(TimeToLive.after(.nanoseconds(1)).deadline(from: 7) == 8)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)])
  func `a time of zero or less is over at its start`(duration: Duration) {
    for start in [Int64.min, -1, 0, 1, .max] {
      #expect(TimeToLive.after(duration).deadline(from: start) == start)
    }
  }

  @Test func `less than a nanosecond is nothing`() {
    let time = Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)

    #expect(TimeToLive.after(time).deadline(from: 3) == 3)
  }

  @Test func `a time to live is named by its unit, as a duration is`() {
    #expect(TimeToLive.seconds(90) == .after(.seconds(90)))
    #expect(TimeToLive.minutes(30) == .after(.seconds(1_800)))
    #expect(TimeToLive.hours(2) == .after(.hours(2)))
    #expect(TimeToLive.days(Int.max) == .after(.seconds(Int64.max)))
  }

  @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(Int64.max), .seconds(1e18)])
  func `a time to live beyond the greatest duration is never`(duration: Duration) {
    #expect(TimeToLive.after(duration).deadline(from: 1) == .max)
  }

  @Test func `a share is a share of the time, not of the start`() {
    let time = TimeToLive.after(.seconds(1))

    #expect(time.deadline(from: 5, share: 1) == 1_000_000_005)
    #expect(time.deadline(from: 5, share: 0) == 5)
    #expect((499_990_000...500_000_005).contains(time.deadline(from: 5, share: 0.5)))
  }
}

@Suite struct CoarseTimeTests {
  @Test func `another clock than the continuous one is read as it is, from zero on`() {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    let time = CoarseTime(clock)
    #expect(time.now() == 0)

    clock.advance(by: .nanoseconds(7))

    #expect(time.now() == 7)
  }

  @Test func `the continuous one does not go back`() {
    let time = CoarseTime(ContinuousClock())

    let moments = (0..<1_000).map { _ in time.now() }

    #expect(moments == moments.sorted() && moments[0] > 0)
  }

  @Test func `an age beyond the greatest duration is the greatest`() {
    #expect(CoarseTime.birth(of: .zero, 5) == 5)
    #expect(CoarseTime.birth(of: .nanoseconds(7), 5) == -2)
    #expect(CoarseTime.birth(of: .seconds(Int64.max), 5) == 5 - .max)
  }
}
