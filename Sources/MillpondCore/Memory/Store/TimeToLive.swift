import MillpondSignals

/// A limit on the age of values.
public enum TimeToLive: Sendable, Hashable {
  /// No limit.
  case never

  /// The value expires at this age; zero or less expires it at once.
  case after(Duration)

  /// Returns the deadline of a value born at `start`, in nanoseconds; `Int64.max` for none.
  ///
  /// - Parameters:
  ///   - start: The time of birth in nanoseconds.
  ///   - share: The share of the duration that counts, from 0 to 1. A product with less than 1 is
  ///     less than 2^63.
  @usableFromInline
  func deadline(from start: Int64, share: Double = 1) -> Int64 {
    guard case .after(let duration) = self else { return .max }
    var nanoseconds = Int64(duration.nanoseconds)
    if share < 1 { nanoseconds = Int64(Double(nanoseconds) * share) }
    let (deadline, isBeyond) = start.addingReportingOverflow(nanoseconds)
    return isBeyond ? .max : deadline
  }
}
