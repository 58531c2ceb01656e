/// Where a record is in the log.
struct Spot: Sendable, Equatable, BitwiseCopyable {
  var segment: UInt32
  var offset: UInt32

  /// Of the record, in bytes; zero where there is none.
  var size: UInt32

  /// When it expires, in seconds since 1970, rounded up; the largest number is never.
  var expiry: UInt32

  static let nowhere = Spot(segment: 0, offset: 0, size: 0, expiry: .max)

  var isNowhere: Bool { size == 0 }
}

extension WallTime {
  /// In seconds since 1970, rounded up, as far as it goes.
  var expiry: UInt32 {
    if microseconds <= 0 { return 0 }
    return UInt32(clamping: (microseconds - 1) / 1_000_000 + 1)
  }

  /// In seconds since 1970, rounded down, as far as it goes.
  var wholeSeconds: UInt32 {
    UInt32(clamping: microseconds / 1_000_000)
  }
}
