/// A part of the log: a file of records, one after the other.
final class Segment: Sendable {
  let number: UInt32
  let file: OpenFile

  init(_ number: UInt32, _ file: OpenFile) {
    self.number = number
    self.file = file
  }
}

/// The segments, the oldest first.
struct SegmentTable: Sendable {
  private(set) var segments: ContiguousArray<Segment> = []

  /// - Complexity: O(log *n*).
  subscript(number: UInt32) -> Segment? {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < segments.count && segments[low].number == number ? segments[low] : nil
  }

  /// Adds one that is newer than all.
  mutating func append(_ segment: Segment) {
    segments.append(segment)
  }

  mutating func removeOldest() {
    segments.removeFirst()
  }
}
