/// Limits on the time and size of an answer, beyond which its transfer fails.
public struct HTTPLimits: Sendable, Hashable {
  /// The longest time without any activity.
  ///
  /// It counts from the start, so waiting for a free connection is part of it. Limit the number of
  /// requests at a time with `limited(to:)`, where waiting does not count.
  public let idleTimeout: Duration

  /// The longest time for a whole answer in memory, however steadily it arrives.
  public let totalTimeout: Duration

  /// The longest time for a whole body that is passed on in pieces, as to a file.
  public let streamTimeout: Duration

  /// The greatest number of bytes of a body in memory, after decompression; zero admits only an
  /// empty one.
  public let byteLimit: Int

  /// The greatest number of bytes of a body that is passed on in pieces, as to a file.
  ///
  /// Such a body is never in memory as a whole, so this is unlimited by default. A file of a
  /// ``MediaCache`` may also have at most as many bytes as its cache.
  public let streamByteLimit: Int

  /// The greatest number of bytes of a head: the names and values of its fields, plus four for
  /// each.
  public let headerByteLimit: Int

  /// One minute of silence, ten minutes in all or a day for a file, 128 MiB in memory, and 64 KiB
  /// for the head.
  public static let standard = HTTPLimits()

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - idleTimeout: The longest time without any activity; with zero or less nothing is in time.
  ///   - totalTimeout: The longest time for a whole answer in memory; with zero or less nothing is
  ///     in time.
  ///   - streamTimeout: The longest time for a whole streamed body; with zero or less nothing is in
  ///     time.
  ///   - byteLimit: The greatest size of a body in memory in bytes, after decompression.
  ///   - streamByteLimit: The greatest size of a streamed body in bytes, after decompression.
  ///   - headerByteLimit: The greatest size of a head in bytes, with four added for each field.
  public init(
    idleTimeout: Duration = .seconds(60), totalTimeout: Duration = .seconds(600),
    streamTimeout: Duration = .seconds(86_400),
    byteLimit: Int = 128 << 20, streamByteLimit: Int = .max, headerByteLimit: Int = 64 << 10
  ) {
    self.idleTimeout = max(.zero, idleTimeout)
    self.totalTimeout = max(.zero, totalTimeout)
    self.streamTimeout = max(.zero, streamTimeout)
    self.byteLimit = max(0, byteLimit)
    self.streamByteLimit = max(0, streamByteLimit)
    self.headerByteLimit = max(0, headerByteLimit)
  }
}

extension HTTPLimits {
  /// The same limits for a body that is passed on in pieces.
  func ofStream(atMost byteLimit: Int = .max) -> HTTPLimits {
    HTTPLimits(
      idleTimeout: idleTimeout, totalTimeout: streamTimeout, streamTimeout: streamTimeout,
      byteLimit: min(byteLimit, streamByteLimit),
      streamByteLimit: streamByteLimit, headerByteLimit: headerByteLimit)
  }

  func check(_ headers: HeaderFields) throws(TransferError) {
    if headers.byteCount > headerByteLimit { throw .headTooLarge(limit: headerByteLimit) }
  }
}
