import Testing

@testable import LoopbackServer

@Suite struct BandwidthLimitTests {
  @Test(arguments: [(1, 1), (5_000, 100), (200_000, 4_000), (Int.max, BandwidthLimit.pieceLimit)])
  func `a piece is a fiftieth of a second's bytes, within limits`(rate: Int, byteCount: Int) {
    #expect(BandwidthLimit(bytesPerSecond: rate).pieceByteCount == byteCount)
  }

  @Test func `bytes are due at the rate`() {
    #expect(BandwidthLimit(bytesPerSecond: 200).due(100) == .milliseconds(500))
    #expect(BandwidthLimit(bytesPerSecond: .max).due(1 << 20) < .microseconds(1))
  }
}
