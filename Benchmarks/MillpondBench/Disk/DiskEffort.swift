/// How often, and how many at a time.
struct DiskEffort {
  let repetitions: Int

  /// One value in so many of a row's is really there.
  let share: Int

  /// How many values those have that need a file for each, at most: on a disk they take their time.
  let fileLimit: Int

  static let full = DiskEffort(repetitions: 7, share: 1, fileLimit: 200)

  /// Enough to find a wrong sum.
  static let quick = DiskEffort(repetitions: 2, share: 50, fileLimit: 8)

  /// How many there are of something that has `count` when nothing is saved.
  func count(_ count: Int) -> Int {
    max(4, count / share)
  }
}
