/// How urgent an answer is.
public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
  /// Nobody waits for it yet.
  case low

  /// Somebody will look at it.
  case normal

  /// Somebody is looking at the place where it belongs.
  case high

  /// Whether `left` is less urgent.
  @inlinable
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
