import MillpondSignals
import Testing

@Suite struct LanesRuleTests {
  @Test(arguments: [LaneUse.usingUp, .keepingLatest])
  func `nothing is joined before there is a value of each lane`(use: LaneUse) {
    var rule = LanesRule(lanes: 2, use)

    let joins = [0, 0, 0, 1].map { rule.arrived(in: $0) }

    #expect(joins == [false, false, false, true])
  }

  @Test func `values that are used up are joined once each`() {
    var rule = LanesRule(lanes: 2, .usingUp)

    let joins = [0, 0, 1, 1, 1, 0].map { rule.arrived(in: $0) }

    #expect(joins == [false, false, true, true, false, true])
  }

  @Test func `the latest values are joined again for each that comes`() {
    var rule = LanesRule(lanes: 2, .keepingLatest)

    let joins = [0, 1, 1, 0].map { rule.arrived(in: $0) }

    #expect(joins == [false, true, true, true])
  }

  @Test(arguments: [LaneUse.usingUp, .keepingLatest])
  func `a lane that closes without a value uses everything up`(use: LaneUse) {
    var rule = LanesRule(lanes: 2, use)
    _ = rule.arrived(in: 0)

    rule.close(1)

    #expect(rule.isUsedUp)
  }

  @Test func `a closed lane lasts until its values are used up`() {
    var rule = LanesRule(lanes: 2, .usingUp)
    _ = rule.arrived(in: 0)
    rule.close(0)
    let before = rule.isUsedUp

    _ = rule.arrived(in: 1)

    #expect(!before)
    #expect(rule.isUsedUp)
  }

  @Test func `kept values last until all lanes are closed`() {
    var rule = LanesRule(lanes: 2, .keepingLatest)
    for lane in 0..<2 { _ = rule.arrived(in: lane) }
    rule.close(0)
    let before = rule.isUsedUp

    rule.close(1)

    #expect(!before)
    #expect(rule.isUsedUp)
  }

  @Test(arguments: [LaneUse.usingUp, .keepingLatest])
  func `no lanes at all are used up`(use: LaneUse) {
    #expect(LanesRule(lanes: 0, use).isUsedUp)
  }

  @Test func `the total of a closed lane is what it did`() {
    var rule = LanesRule(lanes: 2, .usingUp)
    let first = rule.sum(with: SignalProgress(completed: 3), of: 0)
    rule.close(0)

    let second = rule.sum(with: SignalProgress(completed: 1, total: 4), of: 1)

    #expect(first == SignalProgress(completed: 3))
    #expect(second == SignalProgress(completed: 4, total: 7))
  }
}
