import Testing

@testable import MillpondBench

@Suite struct SeededRandomTests {
  @Test func `the numbers are those of the published generator`() {
    var random = SeededRandom(seed: 1_234_567)

    // 6457827717110365317 and 3203168211198807973, of which the upper 53 bits are used.
    #expect(random.fraction() == 0x1.667b405fec23ep-2)
    #expect(random.number(below: 1_000) == 173)
  }

  @Test func `another seed gives other numbers`() {
    var (one, other) = (SeededRandom(seed: 1), SeededRandom(seed: 2))

    #expect(one.fraction() != other.fraction())
  }

  @Test func `numbers stay below their bound and reach each below it`() {
    var random = SeededRandom(seed: 1)

    let numbers = (0..<1_000).map { _ in random.number(below: 5) }

    #expect(Set(numbers) == [0, 1, 2, 3, 4])
  }
}
