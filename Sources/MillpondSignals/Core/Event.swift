/// An event of a signal, which sends `(progress | next)* (failed | completed)?`.
public enum Event<Value: Sendable>: Sendable {
  /// A value.
  case next(Value)

  /// The progress of the work towards the next value or the end.
  case progress(SignalProgress)

  /// The end, by an error; no event follows.
  case failed(any Error)

  /// The end; no event follows.
  case completed

  /// Whether this event ends its signal.
  @inlinable
  public var isTerminal: Bool {
    switch self {
    case .next, .progress: false
    case .failed, .completed: true
    }
  }
}

extension Event where Value == Never {
  /// Returns the same event for a signal of another value type.
  @inlinable
  package func typed<NewValue>(as type: NewValue.Type = NewValue.self) -> Event<NewValue> {
    switch self {
    case .progress(let progress): .progress(progress)
    case .failed(let error): .failed(error)
    case .completed: .completed
    }
  }
}

/// The progress of a piece of work.
///
/// The producer chooses the units: bytes for a transfer, items for a batch.
@frozen
public struct SignalProgress: Sendable, Hashable {
  /// Units done so far, never negative.
  public let completed: Int

  /// Units in all; nil if unknown.
  public let total: Int?

  /// Creates a progress.
  ///
  /// - Parameters:
  ///   - completed: Units done so far; a negative count is taken as zero.
  ///   - total: Units in all, nil if unknown; a negative count is taken as unknown.
  @inlinable
  public init(completed: Int, total: Int? = nil) {
    self.completed = max(0, completed)
    self.total = total.flatMap { $0 < 0 ? nil : $0 }
  }
}

/// The failures that the framework itself reports for a signal.
public enum SignalError: Error, Sendable {
  /// The sender released the observer without ending the signal.
  ///
  /// `origin` is the place in the code that made the signal, as `file:line`; nil in release builds.
  case abandoned(origin: String?)

  /// The awaited event did not arrive within the time limit.
  ///
  /// `key` is the key of the get; nil if the limit is that of a signal by itself.
  case timedOut(after: Duration, key: String? = nil)

  /// A value was needed, and the signal completed without one.
  case empty

  /// More than `limit` events waited for a queue that does not keep up.
  case bufferFull(limit: Int)
}
