/// What a signal sends: `(progress | next)* (failed | completed)?`.
public enum Event<Value: Sendable>: Sendable {
  /// A value.
  case next(Value)

  /// How far the work towards the next value or the end has come.
  case progress(SignalProgress)

  /// The end, by an error. Nothing follows.
  case failed(any Error)

  /// The end. Nothing follows.
  case completed

  /// Whether nothing can follow this event.
  @inlinable
  public var isTerminal: Bool {
    switch self {
    case .next, .progress: false
    case .failed, .completed: true
    }
  }
}

extension Event where Value == Never {
  /// The same event in a signal of another type: without a value, the type says nothing.
  @inlinable
  package func typed<NewValue>(as type: NewValue.Type = NewValue.self) -> Event<NewValue> {
    switch self {
    case .progress(let progress): .progress(progress)
    case .failed(let error): .failed(error)
    case .completed: .completed
    }
  }
}

/// How far a running piece of work has come.
///
/// The units are the producer's own: bytes for a transfer, items for a batch.
public struct SignalProgress: Sendable, Hashable {
  /// Units done so far, never negative.
  public let completed: Int

  /// Units there are in all; nil while nobody knows.
  public let total: Int?

  /// States how far the work has come.
  ///
  /// - Parameters:
  ///   - completed: Units done so far; a negative count is taken as zero.
  ///   - total: Units in all, nil if unknown; a negative count is taken as unknown.
  @inlinable
  public init(completed: Int, total: Int? = nil) {
    self.completed = max(0, completed)
    self.total = total.flatMap { $0 < 0 ? nil : $0 }
  }

  /// The share that is done, 0 to 1; nil while the total is unknown.
  ///
  /// Of a total of zero: 1.
  @inlinable
  public var fraction: Double? {
    guard let total else { return nil }
    return total == 0 ? 1 : min(1, Double(completed) / Double(total))
  }
}

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
