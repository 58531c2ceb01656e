/// When which bytes are due, at a given rate.
struct Pace: Sendable {
  /// Longest piece in bytes: small enough for a client to see many of them.
  static let pieceLimit = 16 * 1024

  let bytesPerSecond: Int

  /// A fiftieth of a second's bytes, so that slow bodies too arrive as a stream.
  var pieceByteCount: Int { min(max(bytesPerSecond / 50, 1), Self.pieceLimit) }

  /// How long after the start this many bytes may have been sent.
  func due(_ byteCount: Int) -> Duration {
    .seconds(Double(byteCount) / Double(max(bytesPerSecond, 1)))
  }
}
