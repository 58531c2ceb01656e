extension SignalError: CustomStringConvertible {
  /// One line for logs: the place or limit in question, and often a remedy.
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
