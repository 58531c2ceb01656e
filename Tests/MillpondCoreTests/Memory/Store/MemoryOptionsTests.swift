import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct MemoryOptionsTests {
  private func deadlines(jitter: Double, _ time: TimeToLive, bornAt: Int64 = 1_000) -> [Int64] {
    let options = MemoryOptions(
      policy: .adaptive, isWeighted: false, timeToLive: time, timeToIdle: .forever, jitter: jitter)
    return (0..<2_000).map { options.deadline(after: time.nanoseconds, bornAt, MemoryHash($0)) }
  }

  @Test(arguments: [0.1, 0.5, 1])
  func `jitter takes off at most its share, and makes deadlines differ`(jitter: Double) {
    let time = 1_000_000_000.0

    let lives = deadlines(jitter: jitter, .after(.seconds(1))).map { Double($0 - 1_000) }

    // A millionth more, for the rounding.
    #expect(lives.allSatisfy { $0 <= time && $0 >= time * (1 - jitter) * 0.999_998 })
    #expect(Set(lives).count > 1_900)
    let mean = lives.reduce(0, +) / Double(lives.count)
    #expect(abs(mean - time * (1 - jitter / 2)) < time * jitter * 0.05)
  }

  @Test func `the same key with the same birth has the same deadline`() {
    let first = deadlines(jitter: 0.5, .after(.seconds(1)))
    #expect(first == deadlines(jitter: 0.5, .after(.seconds(1))))

    let later = deadlines(jitter: 0.5, .after(.seconds(1)), bornAt: 1_001)
    #expect(zip(first, later).filter { $0 == $1 }.count < 10)
  }

  @Test(arguments: [0, -1, .nan, -.infinity] as [Double])
  func `without jitter, or with less, deadlines are exact`(jitter: Double) {
    let deadlines = deadlines(jitter: jitter, .after(.seconds(1)))

    #expect(deadlines.allSatisfy { $0 == 1_000_001_000 })
  }

  @Test(arguments: [1.5, .infinity] as [Double])
  func `more than all of the time is all of it`(jitter: Double) {
    let deadlines = deadlines(jitter: jitter, .after(.seconds(1)))

    #expect(deadlines.allSatisfy { (1_000...1_000_001_000).contains($0) })
  }

  @Test func `never is never, whatever the jitter, and the longest time does not trap`() {
    #expect(deadlines(jitter: 0.5, .forever).allSatisfy { $0 == .max })
    let longest = deadlines(jitter: 0.5, .after(.seconds(Int64.max)))
    #expect(longest.allSatisfy { $0 >= .max / 2 - 1 << 50 })
  }

  @Test func `values that came together do not expire together`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(
      countLimit: 100, timeToLive: .after(.seconds(100)), jitter: 0.5, clock: clock)
    for key in 0..<100 { cache.set(key, for: key) }

    clock.advance(by: .seconds(49))
    cache.removeExpired()
    #expect(cache.count == 100)

    clock.advance(by: .seconds(26))
    cache.removeExpired()
    #expect((20...80).contains(cache.count))

    clock.advance(by: .seconds(25))
    cache.removeExpired()
    #expect(cache.count == 0)
  }
}
