public import Foundation
public import MillpondCore

extension TimeToLive {
  /// Returns the time to live that ends at a date, by the calendar; it is over at once if the date
  /// has passed.
  ///
  /// The time is computed by this call. A date more than 280 years ahead is never.
  public static func until(_ date: Date) -> TimeToLive {
    let seconds = date.timeIntervalSinceNow
    // Not a number counts as passed; as a duration it would trap.
    guard seconds > 0 else { return .after(.zero) }
    return seconds < 280 * 366 * 86_400 ? .after(.seconds(seconds)) : .forever
  }
}
