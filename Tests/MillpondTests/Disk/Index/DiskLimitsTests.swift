import Testing

@testable import Millpond

@Suite struct DiskLimitsTests {
  private let limits = [Int.min, -1, 0, 1, 31, 100, 1_000, 1 << 20, 1 << 40, .max]

  @Test func `no limit traps, and two segments are always free`() {
    for limit in limits {
      let limits = DiskLimits(byteLimit: limit)

      #expect(limits.greatestSegment >= 1 && limits.greatestSegment <= 1 << 30)
      #expect(limits.costLimit == max(0, limit) - 2 * limits.greatestSegment)
      for logBytes in [0, 1 << 20, 1 << 40] {
        #expect((1...limits.greatestSegment).contains(limits.segmentSize(logBytes: logBytes)))
      }
    }
  }

  @Test func `a small log has small segments`() {
    let limits = DiskLimits(byteLimit: 1 << 30)

    #expect(limits.segmentSize(logBytes: 0) == 262_144)
    #expect(limits.segmentSize(logBytes: 8 << 20) == 1 << 20)
    #expect(limits.segmentSize(logBytes: 1 << 30) == limits.greatestSegment)
  }

  @Test func `an entry costs more than what it takes, and never too much for a number`() {
    #expect(DiskLimits.cost(recordSize: 100, large: 0) == 100 + 25 + 2 * 24)
    #expect(DiskLimits.cost(recordSize: 100, large: 1_000) == 1_173)
    #expect(DiskLimits.cost(recordSize: 100, large: .max) == .max)
  }

  @Test func `nothing is written anew where nothing is gained`() {
    for limit in limits {
      let limits = DiskLimits(byteLimit: limit)
      #expect(!limits.isWorthCompacting(logBytes: 1_000, liveBytes: 1_000, otherBytes: 1 << 40))
    }
  }

  @Test func `it is worth it when half is needless, or there is no room`() {
    let limits = DiskLimits(byteLimit: 32_000)  // segments of 1,000

    #expect(!limits.isWorthCompacting(logBytes: 10_000, liveBytes: 5_000, otherBytes: 0))
    #expect(limits.isWorthCompacting(logBytes: 10_001, liveBytes: 5_000, otherBytes: 0))
    #expect(!limits.isWorthCompacting(logBytes: 250, liveBytes: 0, otherBytes: 0))
    #expect(limits.isWorthCompacting(logBytes: 251, liveBytes: 0, otherBytes: 0))
    #expect(!limits.isWorthCompacting(logBytes: 20_000, liveBytes: 19_999, otherBytes: 10_000))
    #expect(limits.isWorthCompacting(logBytes: 20_000, liveBytes: 19_999, otherBytes: 10_001))
  }
}
