/// A position in the log, which goes on from segment to segment.
struct LogPosition: Sendable, Comparable, BitwiseCopyable {
  var segment: UInt32
  var offset: UInt32

  static let start = LogPosition(segment: 0, offset: 0)

  static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.segment, left.offset) < (right.segment, right.offset)
  }
}

extension Spot {
  var position: LogPosition {
    LogPosition(segment: segment, offset: offset)
  }
}

extension LogContents.Part {
  var end: LogPosition {
    LogPosition(segment: segment.number, offset: UInt32(clamping: size))
  }
}
