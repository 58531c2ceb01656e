import Testing

@testable import Millpond

@Suite struct TimeoutsTests {
  let limits = HTTPLimits(idleTimeout: .seconds(3), totalTimeout: .seconds(10))

  @Test func `it waits until the nearer of both ends`() {
    var timeLimit = Timeouts(limits, since: .seconds(100))

    #expect(timeLimit.verdict(at: .seconds(101)) == .waits(.seconds(2)))
    timeLimit.beginDelivery()
    timeLimit.endDelivery(at: .seconds(108))
    #expect(timeLimit.verdict(at: .seconds(109)) == .waits(.seconds(1)))
  }

  @Test func `silence is over when it has lasted as long as it may`() {
    let timeLimit = Timeouts(limits, since: .zero)

    #expect(timeLimit.verdict(at: .seconds(3)) == .isOver(.idle))
  }

  @Test func `the whole is over however much arrives`() {
    var timeLimit = Timeouts(limits, since: .zero)

    timeLimit.beginDelivery()
    timeLimit.endDelivery(at: .seconds(10))

    #expect(timeLimit.verdict(at: .seconds(10)) == .isOver(.total))
  }

  @Test func `a delivery is no silence, and ends the whole all the same`() {
    var timeLimit = Timeouts(limits, since: .zero)

    timeLimit.beginDelivery()
    #expect(timeLimit.verdict(at: .seconds(8)) == .waits(.seconds(2)))
    #expect(timeLimit.verdict(at: .seconds(10)) == .isOver(.total))

    timeLimit.endDelivery(at: .seconds(8))
    #expect(timeLimit.verdict(at: .seconds(9)) == .waits(.seconds(1)))
  }

  @Test func `an endless timeLimit traps nothing`() {
    let endless = Duration.seconds(Int64.max)
    let timeLimit = Timeouts(HTTPLimits(idleTimeout: endless, totalTimeout: endless), since: .zero)

    #expect(timeLimit.verdict(at: .seconds(1)) == .waits(.seconds(Int64.max - 1)))
  }
}
