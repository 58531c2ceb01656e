/// How often, and how many at a time.
struct MemoryEffort: QuickEffort {
  /// How many entries a row may have to be measured at all.
  let sizeLimit: Int

  /// How many visits a thread makes in a repetition, at least; for inserts ``strangers``.
  let visits: Int

  /// How many keys there are besides those that are kept.
  let strangers: Int

  let repetitions: @Sendable (_ size: Int) -> Int

  static let full = MemoryEffort(
    sizeLimit: .max, visits: 200_000, strangers: 100_000,
    repetitions: { $0 < 10_000 ? 21 : $0 < 1_000_000 ? 11 : 3 })

  /// Enough to find a wrong sum.
  static let quick = MemoryEffort(
    sizeLimit: 100_000, visits: 2_000, strangers: 2_000, repetitions: { _ in 2 })
}
