/// The position and size of a record in the log.
struct RecordLocation: Sendable, Equatable, BitwiseCopyable {
  var segment: UInt32
  var offset: UInt32

  /// The size of the record in bytes; zero for no record.
  var size: UInt32

  /// The time at which the record expires, in seconds since 1970, rounded up; the largest number is
  /// never.
  var expiry: UInt32

  static let nowhere = RecordLocation(segment: 0, offset: 0, size: 0, expiry: .max)

  var isNowhere: Bool { size == 0 }
}

extension WallTime {
  /// The time in seconds since 1970, rounded up and clamped.
  var expiry: UInt32 {
    if microseconds <= 0 { return 0 }
    return UInt32(clamping: (microseconds - 1) / 1_000_000 + 1)
  }

  /// The time in seconds since 1970, rounded down and clamped.
  var wholeSeconds: UInt32 { UInt32(clamping: microseconds / 1_000_000) }
}

/// A position in the log, which continues from segment to segment.
struct LogPosition: Sendable, Hashable, Comparable, BitwiseCopyable {
  var segment: UInt32
  var offset: UInt32

  static let start = LogPosition(segment: 0, offset: 0)

  /// The number of bytes of a position in a record.
  static let size = 8

  static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.segment, left.offset) < (right.segment, right.offset)
  }
}

extension RecordLocation {
  var position: LogPosition { LogPosition(segment: segment, offset: offset) }
}

/// The identifier of a key in the index: a hash of its bytes.
///
/// In the rare case of two keys with one hash, the key in the record distinguishes them; the later
/// key replaces the other.
struct KeyHash: Sendable, Hashable, BitwiseCopyable {
  let value: UInt64

  init(value: UInt64) {
    self.value = value
  }

  init(_ key: UnsafeRawBufferPointer) {
    value = FoldHash.hash(key, seed: 1)
  }

  init(of key: String) {
    var key = key
    self = key.withUTF8 { KeyHash(UnsafeRawBufferPointer($0)) }
  }

  var bits: UInt32 { UInt32(truncatingIfNeeded: value >> 32) }
}
