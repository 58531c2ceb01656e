/// How short of memory the system is.
public enum MemoryPressure: Sendable, Hashable, Comparable, CaseIterable {
  /// What can be had again should be let go of.
  case warning

  /// Whoever keeps more than it needs may be ended.
  case critical
}

extension MemoryPressure {
  /// Whether the first level is the worse one; nil is calm.
  static func isWorse(_ level: MemoryPressure?, than other: MemoryPressure?) -> Bool {
    guard let level else { return false }
    guard let other else { return true }
    return level > other
  }
}
