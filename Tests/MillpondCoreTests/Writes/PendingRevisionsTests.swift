import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct PendingRevisionsTests {
  private var numbers = PendingRevisions()

  @Test(arguments: 0..<10)
  mutating func `the oldest counts, however many begin and end, in whichever order`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var pending: [UInt64] = []
    var latest: UInt64 = 1_000_000
    for step in 0..<6_000 {
      if pending.isEmpty || Int.random(in: 0..<10, using: &random) < (step < 4_000 ? 7 : 3) {
        latest += 2
        // Some come late, or twice.
        let isLate = Int.random(in: 0..<8, using: &random) == 0
        let number = isLate ? latest - UInt64.random(in: 0..<4_000, using: &random) : latest
        numbers.begin(number)
        pending.append(number)
      } else {
        let place = Int.random(in: 0..<pending.count, using: &random)
        numbers.end(pending.remove(at: place))
      }
      if step.isMultiple(of: 7) { #expect(numbers.oldest == pending.min() ?? .max) }
    }

    for number in pending { numbers.end(number) }

    #expect(numbers.oldest == .max)
    numbers.begin(3)
    #expect(numbers.oldest == 3)
  }

  @Test mutating func `the oldest is found also where earlier ones come last`() {
    numbers.begin(.max - 1)
    for number in 1...10_000 as ClosedRange<UInt64> { numbers.begin(number) }
    for number in (20_000...30_000 as ClosedRange<UInt64>).reversed() { numbers.begin(number) }

    #expect(numbers.oldest == 1)
    for number in 1...10_000 as ClosedRange<UInt64> {
      numbers.end(number)
      if number.isMultiple(of: 999) { #expect(numbers.oldest == number + 1) }
    }
    #expect(numbers.oldest == 20_000)
  }

  @Test mutating func `the end of a number that is not pending changes nothing`() {
    numbers.begin(5)
    numbers.end(4)
    numbers.end(6)
    #expect(numbers.oldest == 5)
    numbers.end(5)
    numbers.end(5)
    #expect(numbers.oldest == .max)
  }
}
