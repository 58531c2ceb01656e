/// The number of repetitions, and of operations in each.
struct DiskEffort {
  let repetitions: Int

  /// The divisor of a row's number of values.
  let share: Int

  /// The greatest number of values in rows that need a file for each, which are slow on a disk.
  let fileLimit: Int

  static let full = DiskEffort(repetitions: 7, share: 1, fileLimit: 200)

  /// Enough to find a wrong sum.
  static let quick = DiskEffort(repetitions: 2, share: 50, fileLimit: 8)

  /// Returns the reduced number of things of which a full run has `count`.
  func count(_ count: Int) -> Int {
    max(4, count / share)
  }
}
