import MillpondSignals

/// The events that a recorder has received, and their violations.
struct Recording<Value: Sendable>: Sendable, CustomStringConvertible {
  private(set) var events: [Event<Value>] = []
  private(set) var values: [Value] = []
  private(set) var progress: [SignalProgress] = []
  private(set) var end: Event<Never>?
  private var overlapping: [Event<Value>] = []
  private var late: [Event<Value>] = []
  private var deliveries = 0

  // Events are not stored as text, because a user's `description` must not run under the recorder's
  // lock.
  var violations: [Violation] {
    overlapping.map { .overlap(event: $0.summary) } + late.map { .afterEnd(event: $0.summary) }
  }

  var description: String {
    "[" + events.suffix(20).map(\.summary).joined(separator: ", ") + "]"
  }

  mutating func begin(_ event: Event<Value>) {
    if deliveries > 0 { overlapping.append(event) }
    deliveries += 1
    if end != nil { return late.append(event) }
    events.append(event)
    switch event {
    case .next(let value): values.append(value)
    case .progress(let new): progress.append(new)
    case .failed(let error): end = .failed(error)
    case .completed: end = .completed
    }
  }

  mutating func finish() {
    deliveries -= 1
  }
}

extension Event {
  /// The event in a word or two.
  var summary: String {
    switch self {
    case .next(let value): "next \(value)"
    case .progress(let progress):
      "progress \(progress.completed)/\(progress.total.map { "\($0)" } ?? "?")"
    case .failed(let error): "failed \(error)"
    case .completed: "completed"
    }
  }
}

/// A breach of the signal contract that a ``Recorder`` has seen.
public enum Violation: Sendable, Hashable, CustomStringConvertible {
  /// An event was delivered during another delivery.
  case overlap(event: String)

  /// An event arrived after the terminal one.
  case afterEnd(event: String)

  /// The breach in words.
  public var description: String {
    switch self {
    case .overlap(let event): "\(event) was delivered while another event was"
    case .afterEnd(let event): "\(event) came after the end"
    }
  }
}
