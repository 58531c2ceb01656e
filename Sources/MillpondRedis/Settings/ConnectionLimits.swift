import MillpondSignals

/// The limits of a connection, in nanoseconds, commands and bytes.
struct ConnectionLimits: Sendable {
  var deadline: Int64
  var heartbeat: Int64
  var commands = 1 << 17
  var outputBytes = 256 << 20

  /// The first and the longest pause between attempts.
  var firstPause: Int64 = 50_000_000
  var longestPause: Int64 = 2_000_000_000

  /// The time after which a connection counts as one that works.
  var lasting: Int64 = 1_000_000_000

  /// Returns a time limit in nanoseconds, so short that no sum with the present time overflows.
  static func time(_ limit: Duration) -> Int64 {
    Int64(min(max(limit, .milliseconds(1)).nanoseconds, .max / 4))
  }

  /// Returns the pause after so many failed attempts.
  ///
  /// - Parameter share: A random share, from 0 to 1, of the half of the pause that is taken off.
  func pause(after failures: Int, share: Double) -> Int64 {
    let whole = min(longestPause, firstPause << Int64(min(max(0, failures - 1), 20)))
    return whole - Int64(Double(whole) * 0.5 * min(1, max(0, share)))
  }
}
