/// What the framework itself finds wrong with a signal.
public enum SignalError: Error, Sendable {
  /// Whoever was to send the end let go of the observer without it.
  ///
  /// `origin` is where the signal was made, as `file:line`; nil in release builds.
  case abandoned(origin: String?)

  /// Nothing came within the time that was given.
  case timedOut

  /// A value was asked for, and the signal completed without any.
  case empty

  /// More than `limit` events waited for a queue that doesn't get round to them.
  case bufferFull(limit: Int)
}
