/// The urgency of an answer.
public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
  /// The answer is not needed yet.
  case low

  /// The answer will be needed soon.
  case normal

  /// The answer is needed now, for example by what is on the screen.
  case high

  /// Whether `left` is less urgent than `right`.
  @inlinable
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}
