/// What happened to a question on its way down, in the order in which it happened: which layers
/// were asked, what each said, how long it took, how old the value is.
public struct Provenance: Sendable, CustomStringConvertible {
  /// What happened, step by step.
  public let steps: [CacheEvent]

  init(_ steps: [CacheEvent]) {
    self.steps = steps
  }

  /// The layer that had the value; nil if none had.
  public var origin: String? {
    steps.first { if case .hit = $0.kind { true } else { false } }?.layer
  }

  /// What each layer said, one after the other.
  public var description: String {
    steps.isEmpty ? "nobody was asked" : steps.map(\.description).joined(separator: "; ")
  }
}

/// A value, or that there is none, and how that came about.
public struct Found<Value: Sendable>: Sendable {
  /// The value; nil if no layer had one.
  public let value: Value?

  /// How old the value is.
  public let age: Duration?

  /// Who was asked for it, and what they said.
  public let provenance: Provenance
}
