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

extension Event {
  /// The event for those who don't take values; nil for a value.
  @inlinable
  package var withoutValue: Event<Never>? {
    switch self {
    case .next: nil
    case .progress(let progress): .progress(progress)
    case .failed(let error): .failed(error)
    case .completed: .completed
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
