import MillpondSignals

/// How long something is kept.
public enum TimeToLive: Sendable, Hashable {
  /// Until it has to go for another reason.
  case never

  /// For so long; zero or less is over at once.
  case after(Duration)

  /// When it is over for what began at `start`, in nanoseconds; `Int64.max` is never.
  ///
  /// - Parameter share: Of the whole time, from 0 to 1. Less than 1, a product is less than 2^63.
  @usableFromInline
  func deadline(from start: Int64, share: Double = 1) -> Int64 {
    guard case .after(let duration) = self else { return .max }
    var nanoseconds = Int64(duration.nanoseconds)
    if share < 1 { nanoseconds = Int64(Double(nanoseconds) * share) }
    let (deadline, isBeyond) = start.addingReportingOverflow(nanoseconds)
    return isBeyond ? .max : deadline
  }
}
