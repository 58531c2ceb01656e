/// What an answer may take, in time and bytes, before it is given up.
public struct HTTPLimits: Sendable, Hashable {
  /// How long nothing at all may arrive.
  ///
  /// It counts from the start, so that waiting for a free connection is part of it: limit how many
  /// requests run at once with `limited(to:)`, where the wait costs nothing.
  public let idleTimeout: Duration

  /// How long the whole answer may take, however steadily it drips.
  public let totalTimeout: Duration

  /// The greatest number of bytes of a body in memory, after decompression; zero admits only an empty one.
  public let byteLimit: Int

  /// The greatest number of bytes of a body that is passed on in pieces, as to a file.
  ///
  /// Such a body is never in memory as a whole, so this is unlimited unless stated. The file of a
  /// ``MediaCache`` may have as many bytes as its cache.
  public let streamByteLimit: Int

  /// How many bytes a head may have: the names and values of its fields, and four for each.
  public let headerByteLimit: Int

  /// One minute of silence, ten minutes in all, 128 MiB in memory, and 64 KiB for the head.
  public static let standard = HTTPLimits()

  /// States what an answer may take.
  ///
  /// - Parameters:
  ///   - idleTimeout: Of zero or less: nothing arrives in time.
  ///   - totalTimeout: Of zero or less: nothing arrives in time.
  ///   - byteLimit: In bytes, after decompression.
  ///   - streamByteLimit: In bytes, after decompression.
  ///   - headerByteLimit: In bytes, four for each field added.
  public init(
    idleTimeout: Duration = .seconds(60), totalTimeout: Duration = .seconds(600),
    byteLimit: Int = 128 << 20, streamByteLimit: Int = .max, headerByteLimit: Int = 64 << 10
  ) {
    self.idleTimeout = max(.zero, idleTimeout)
    self.totalTimeout = max(.zero, totalTimeout)
    self.byteLimit = max(0, byteLimit)
    self.streamByteLimit = max(0, streamByteLimit)
    self.headerByteLimit = max(0, headerByteLimit)
  }
}

extension HTTPLimits {
  /// The same limits for a body that is passed on in pieces.
  func ofStream(atMost byteLimit: Int = .max) -> HTTPLimits {
    HTTPLimits(
      idleTimeout: idleTimeout, totalTimeout: totalTimeout,
      byteLimit: min(byteLimit, streamByteLimit),
      streamByteLimit: streamByteLimit, headerByteLimit: headerByteLimit)
  }

  func check(_ headers: HeaderFields) throws(TransferError) {
    if headers.byteCount > headerByteLimit { throw .headTooLarge(limit: headerByteLimit) }
  }
}
