import Testing

@testable import Millpond

@Suite struct WallTimeTests {
  private let noon = WallTime(microseconds: 1_000_000_000_000)

  @Test func `an age is what lies between two times`() {
    #expect(noon.before(by: .seconds(90)).age(at: noon) == .seconds(90))
    #expect(noon.age(at: noon) == .zero)
  }

  @Test(arguments: [1, 1_000_000, 59_999_999])
  func `a time that a small step of the clock leaves in the future is new`(distance: Int64) {
    let future = WallTime(microseconds: noon.microseconds + distance)

    #expect(future.age(at: noon) == .zero)
  }

  @Test(arguments: [60_000_000, 3_600_000_000, Int64.max - 1_000_000_000_000])
  func `a time in the future counts as the greatest age`(distance: Int64) {
    let future = WallTime(microseconds: noon.microseconds + distance)

    #expect(future.age(at: noon) == WallTime.greatestAge)
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, -1, 0, 1, .max])
  func `no date traps`(stored: Int64, now: Int64) {
    let age = WallTime(microseconds: stored).age(at: WallTime(microseconds: now))

    #expect(age >= .zero && age <= WallTime.greatestAge)
  }

  @Test func `no age traps`() {
    let ages: [Duration] = [
      .seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(Int64.max), .seconds(-1),
    ]

    for age in ages {
      #expect(noon.before(by: age) <= noon)
      #expect(WallTime(microseconds: .min).before(by: age).microseconds == .min)
    }
  }
}
