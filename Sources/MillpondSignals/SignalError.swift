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

extension SignalError: CustomStringConvertible {
  /// One line, for logs: the place or limit that it is about, and what to do.
  public var description: String {
    switch self {
    case .abandoned(let origin):
      "the observer of the signal\(origin.map { " made at \($0)" } ?? "") was released before the end"
    case .timedOut: "no event came before the deadline"
    case .empty: "the signal completed without a value"
    case .bufferFull(let limit):
      "more than \(limit) events waited for their queue: raise the limit of receive(on:limit:)"
    }
  }
}
