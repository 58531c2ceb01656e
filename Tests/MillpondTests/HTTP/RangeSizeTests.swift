import Testing

@testable import Millpond

@Suite struct RangeSizeTests {
  private static let first = RangeSize(least: 1_000, greatest: 8_000)

  /// Returns the next size after a range.
  private func size(
    _ count: Int, in time: Duration, after wait: Duration, heldUp: Duration = .zero
  ) -> Int {
    var size = Self.first
    size.received(count, in: time, after: wait, heldUp: heldUp)
    return size.byteCount
  }

  @Test func `at first it is the least`() {
    #expect(Self.first.byteCount == 1_000)
  }

  @Test func `the bytes take 32 times as long as the wait for them`() {
    #expect(size(1_000, in: .seconds(64), after: .seconds(3)) == 1_500)
  }

  @Test func `it grows step by step`() {
    var size = Self.first
    let sizes = (0..<5).map { _ in
      size.received(size.byteCount, in: .seconds(1), after: .seconds(1), heldUp: .zero)
      return size.byteCount
    }
    #expect(sizes == [2_000, 4_000, 8_000, 8_000, 8_000])
  }

  @Test func `it is never less than the least`() {
    #expect(size(1_000, in: .seconds(100), after: .seconds(1)) == 1_000)
  }

  @Test func `a slow transfer gets pieces of the least size`() {
    #expect(size(1_000, in: .seconds(8), after: .seconds(8), heldUp: .seconds(1)) == 2_000)
    #expect(size(1_000, in: .seconds(8), after: .seconds(8), heldUp: .seconds(2)) == 1_000)
  }

  @Test func `one long wait does not count where there are shorter ones`() {
    var size = Self.first
    size.received(1_000, in: .seconds(100), after: .seconds(1), heldUp: .zero)
    size.received(1_000, in: .seconds(100), after: .seconds(100), heldUp: .zero)
    #expect(size.byteCount == 1_000)
  }

  @Test func `an answer in no time does not trap`() {
    #expect(size(1_000, in: .zero, after: .zero) == 1_000)
    #expect(size(1_000, in: .zero, after: .seconds(1)) == 2_000)
    #expect(size(0, in: .zero, after: .seconds(1)) == 2_000)
    #expect(size(0, in: .seconds(1), after: .seconds(1)) == 1_000)
    #expect(size(.max, in: .nanoseconds(1), after: .seconds(Int64.max / 2)) == 2_000)
    #expect(size(1_000, in: .seconds(-1), after: .seconds(-1)) == 1_000)
  }
}
