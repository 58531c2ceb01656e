/// The schedule of bytes at a given rate.
struct BandwidthLimit: Sendable {
  /// The greatest size of a piece in bytes, small enough for a client to see many of them.
  static let pieceLimit = 16 * 1024

  let bytesPerSecond: Int

  /// The bytes of a fiftieth of a second, so that slow bodies also arrive as a stream.
  var pieceByteCount: Int { min(max(bytesPerSecond / 50, 1), Self.pieceLimit) }

  /// Returns the time after the start at which this many bytes may have been sent.
  func due(_ byteCount: Int) -> Duration {
    .seconds(Double(byteCount) / Double(max(bytesPerSecond, 1)))
  }
}
