import MillpondSignals
import Testing

@Suite struct ZipAndCombineLatestRuleTests {
  @Test(arguments: [CombinedUse.usingUp, .keepingLatest])
  func `nothing is joined before there is a value of each input`(use: CombinedUse) {
    var rule = ZipAndCombineLatestRule(inputs: 2, use)

    let joins = [0, 0, 0, 1].map { rule.arrived(in: $0) }

    #expect(joins == [false, false, false, true])
  }

  @Test func `values that are used up are joined once each`() {
    var rule = ZipAndCombineLatestRule(inputs: 2, .usingUp)

    let joins = [0, 0, 1, 1, 1, 0].map { rule.arrived(in: $0) }

    #expect(joins == [false, false, true, true, false, true])
  }

  @Test func `the latest values are joined again for each that comes`() {
    var rule = ZipAndCombineLatestRule(inputs: 2, .keepingLatest)

    let joins = [0, 1, 1, 0].map { rule.arrived(in: $0) }

    #expect(joins == [false, true, true, true])
  }

  @Test(arguments: [CombinedUse.usingUp, .keepingLatest])
  func `a input that closes without a value uses everything up`(use: CombinedUse) {
    var rule = ZipAndCombineLatestRule(inputs: 2, use)
    _ = rule.arrived(in: 0)

    rule.close(1)

    #expect(rule.isUsedUp)
  }

  @Test func `a closed input lasts until its values are used up`() {
    var rule = ZipAndCombineLatestRule(inputs: 2, .usingUp)
    _ = rule.arrived(in: 0)
    rule.close(0)
    let before = rule.isUsedUp

    _ = rule.arrived(in: 1)

    #expect(!before)
    #expect(rule.isUsedUp)
  }

  @Test func `kept values last until all inputs are closed`() {
    var rule = ZipAndCombineLatestRule(inputs: 2, .keepingLatest)
    for input in 0..<2 { _ = rule.arrived(in: input) }
    rule.close(0)
    let before = rule.isUsedUp

    rule.close(1)

    #expect(!before)
    #expect(rule.isUsedUp)
  }

  @Test(arguments: [CombinedUse.usingUp, .keepingLatest])
  func `no inputs at all are used up`(use: CombinedUse) {
    #expect(ZipAndCombineLatestRule(inputs: 0, use).isUsedUp)
  }

  @Test func `the total of a closed input is what it did`() {
    var rule = ZipAndCombineLatestRule(inputs: 2, .usingUp)
    let first = rule.sum(with: SignalProgress(completed: 3), of: 0)
    rule.close(0)

    let second = rule.sum(with: SignalProgress(completed: 1, total: 4), of: 1)

    #expect(first == SignalProgress(completed: 3))
    #expect(second == SignalProgress(completed: 4, total: 7))
  }
}
