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

  /// So many operators are nested that the stack could not hold a delivery through all of them.
  ///
  /// Comes in place of a subscription. How many fit depends on the stack of the thread, see
  /// <doc:SignalContract#Depth>. `retry`, `recover` and `ifNoValue` pass this failure on.
  case nestedTooDeeply
}

extension Error {
  /// Whether another attempt, or a replacement, would be nested too deeply again.
  var isNestedTooDeeply: Bool {
    if case .nestedTooDeeply? = self as? SignalError { true } else { false }
  }
}

extension Event where Value == Never {
  @usableFromInline
  var isNestedTooDeeply: Bool {
    if case .failed(let error) = self { error.isNestedTooDeeply } else { false }
  }
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
    case .nestedTooDeeply:
      "operators are nested too deeply for the stack of this thread: bound the recursion, go on with "
        + "concat of a deferred signal, or subscribe on a thread with more stack"
    }
  }
}
