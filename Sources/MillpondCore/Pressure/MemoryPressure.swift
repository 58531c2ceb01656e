/// The level of a memory shortage.
public enum MemoryPressure: Sendable, Hashable, Comparable, CaseIterable {
  /// Values that can be fetched again should be released.
  case warning

  /// A process that keeps more than it needs may be terminated.
  case critical
}

extension MemoryPressure {
  /// Whether the first level is worse than the second; nil means no pressure.
  static func isWorse(_ level: MemoryPressure?, than other: MemoryPressure?) -> Bool {
    guard let level else { return false }
    guard let other else { return true }
    return level > other
  }
}
