/// The limits of the store's parts, derived from the limit in bytes.
///
/// The limit applies to all files. A log needs room for outdated records, or every new value would
/// have all others rewritten: so a record counts a quarter more than its size, which makes that
/// room. The bytes of an entry in the checkpoint count too, twice, since the old one exists while
/// it is replaced.
struct DiskLimits: Sendable, Equatable {
  let byteLimit: Int

  /// The size from which a value has a file of its own.
  static let largeSize = 65_536

  /// The size of an entry in the checkpoint.
  static let indexSize = 24

  /// The greatest cost of all entries: two segments stay free, for the one being written and the
  /// one being copied.
  let costLimit: Int

  /// The greatest size at which a segment is full.
  let greatestSegment: Int

  init(byteLimit: Int) {
    self.byteLimit = max(0, byteLimit)
    greatestSegment = min(max(byteLimit / 32, 1), 1 << 30)
    costLimit = self.byteLimit - 2 * greatestSegment
  }

  /// Returns the size at which a segment is full, for a log of this size: a small store has small
  /// segments.
  func segmentSize(logBytes: Int) -> Int { min(greatestSegment, max(262_144, logBytes / 8)) }

  /// Returns the cost of an entry.
  ///
  /// - Parameters:
  ///   - recordSize: The size of its record.
  ///   - large: The length of a value that has a file of its own; otherwise zero.
  static func cost(recordSize: Int, large: Int) -> Int {
    let record = recordSize + recordSize / 4 + 2 * indexSize
    let (sum, overflow) = record.addingReportingOverflow(large)
    return overflow ? .max : sum
  }

  /// Whether enough of the log is outdated to be worth copying the rest.
  func isWorthCompacting(logBytes: Int, liveBytes: Int, otherBytes: Int) -> Bool {
    let garbage = logBytes - liveBytes
    if garbage > max(liveBytes, greatestSegment / 4) { return true }
    return garbage > 0 && logBytes + otherBytes > costLimit
  }
}
