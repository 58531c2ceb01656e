/// Why the event that a test waited for did not come.
public enum WaitError: Error, Sendable, CustomStringConvertible {
  /// It had not come when the watchdog's time was over.
  ///
  /// `awaited` says what the test waited for, `state` what there was instead.
  case timedOut(awaited: String, state: String)

  /// The signal ended first, so that it can't come any more.
  case ended(awaited: String, state: String)

  /// What was awaited, and what there was instead.
  public var description: String {
    switch self {
    case .timedOut(let awaited, let state):
      "waited \(Watchdog.limit) for \(awaited); there was \(state)"
    case .ended(let awaited, let state):
      "waited for \(awaited); the signal ended with \(state)"
    }
  }
}
