extension SignalError: CustomStringConvertible {
  /// One line for logs: the place or limit in question, and often a remedy.
  public var description: String {
    switch self {
    case .abandoned(let origin):
      "the signal\(origin.map { " made at \($0)" } ?? "") never ended: its observer was released"
    case .timedOut(let limit, nil):
      "the awaited event did not arrive within \(limit.brief) (allow more time)"
    case .timedOut(let limit, let key?):
      "the get of the key \(key) had no answer within \(limit.brief) (allow more time)"
    case .empty: "the signal completed without a value"
    case .bufferFull(let limit):
      "more than \(limit) events waited for their queue (raise the limit of receive(on:limit:))"
    }
  }
}
