/// How far a running piece of work has come.
///
/// The units are the producer's own: bytes for a transfer, items for a batch.
public struct SignalProgress: Sendable, Hashable {
  /// Units done so far, never negative.
  public let completed: Int

  /// Units there are in all; nil while nobody knows.
  public let total: Int?

  /// States how far the work has come.
  ///
  /// - Parameters:
  ///   - completed: Units done so far; a negative count is taken as zero.
  ///   - total: Units in all, nil if unknown; a negative count is taken as unknown.
  @inlinable
  public init(completed: Int, total: Int? = nil) {
    self.completed = max(0, completed)
    self.total = total.flatMap { $0 < 0 ? nil : $0 }
  }

  /// The share that is done, 0 to 1; nil while the total is unknown.
  ///
  /// Of a total of zero: 1.
  @inlinable
  public var fraction: Double? {
    guard let total else { return nil }
    return total == 0 ? 1 : min(1, Double(completed) / Double(total))
  }
}
