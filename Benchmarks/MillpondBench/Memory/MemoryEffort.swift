/// The number of repetitions, and of operations in each.
struct MemoryEffort {
  /// The greatest number of entries of a measured row.
  let sizeLimit: Int

  /// The least number of a thread's visits in a repetition; for inserts ``strangers``.
  let visits: Int

  /// The number of keys besides the stored ones.
  let strangers: Int

  let repetitions: @Sendable (_ size: Int) -> Int

  static let full = MemoryEffort(
    sizeLimit: .max, visits: 200_000, strangers: 100_000,
    repetitions: { $0 < 10_000 ? 21 : $0 < 1_000_000 ? 11 : 3 })

  /// Enough to find a wrong sum.
  static let quick = MemoryEffort(
    sizeLimit: 100_000, visits: 2_000, strangers: 2_000, repetitions: { _ in 2 })
}
