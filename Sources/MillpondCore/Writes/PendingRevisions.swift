import MillpondSignals

/// The numbers of the writes that have begun and not ended, in ascending order.
///
/// - Complexity: O(1) to begin the latest; O(log *n*) to find another, and O(*n*) to move those
///   behind it, which takes microseconds for ten thousand.
struct PendingRevisions: Sendable {
  /// Each number with its pending writes: several if several layers delay the same write.
  private var writes: ContiguousArray<(number: UInt64, count: Int)> = []

  /// The earliest pending number.
  var oldest: UInt64 { writes.first?.number ?? .max }

  mutating func begin(_ number: UInt64) {
    let place = place(of: number)
    if place < writes.count, writes[place].number == number {
      writes[place].count += 1
    } else {
      writes.insert((number, 1), at: place)
    }
  }

  /// Ends one write of a number.
  mutating func end(_ number: UInt64) {
    let place = place(of: number)
    guard place < writes.count, writes[place].number == number else { return }
    writes[place].count -= 1
    if writes[place].count == 0 { writes.remove(at: place) }
  }

  /// Returns the first place of a number, or of the next greater one.
  private func place(of number: UInt64) -> Int {
    if let last = writes.last, last.number < number { return writes.count }
    return partitionPoint(writes.count) { writes[$0].number < number }
  }
}
