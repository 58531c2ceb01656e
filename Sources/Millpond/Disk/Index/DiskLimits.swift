/// What the limit in bytes comes to, for the parts of the store.
///
/// The limit is one for files. A log has to have room for what is not needed any more, or all would
/// have to be written again for each new value: so a record counts for a quarter more than its size,
/// and what is over is for that. What an entry takes in the file of the index, twice while that is
/// replaced, counts too.
struct DiskLimits: Sendable, Equatable {
  let byteLimit: Int

  /// The size of a value from which on it has a file of its own.
  static let largeSize = 65_536

  /// The size of an entry in the file of the index.
  static let indexSize = 24

  init(byteLimit: Int) {
    self.byteLimit = max(0, byteLimit)
  }

  /// The most that all entries may cost: two segments stay free, for the one that is written and the one
  /// that is copied.
  var costLimit: Int { byteLimit - 2 * greatestSegment }

  /// The size of a segment at which the next is begun.
  var greatestSegment: Int { min(max(byteLimit / 32, 1), 1 << 30) }

  /// The same for a log of this size: a small store has small segments.
  func segmentSize(logBytes: Int) -> Int { min(greatestSegment, max(262_144, logBytes / 8)) }

  /// What an entry costs.
  ///
  /// - Parameter large: The length of a value that has a file of its own; else zero.
  static func cost(recordSize: Int, large: Int) -> Int {
    let record = recordSize + recordSize / 4 + 2 * indexSize
    let (sum, overflow) = record.addingReportingOverflow(large)
    return overflow ? .max : sum
  }

  /// Whether enough of the log is not needed any more to be worth copying the rest.
  func isWorthCompacting(logBytes: Int, liveBytes: Int, otherBytes: Int) -> Bool {
    let garbage = logBytes - liveBytes
    if garbage > max(liveBytes, greatestSegment / 4) { return true }
    return garbage > 0 && logBytes + otherBytes > byteLimit - 2 * greatestSegment
  }
}
