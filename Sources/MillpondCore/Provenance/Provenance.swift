public import MillpondSignals

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

extension Source {
  /// The value for `key` with its provenance: who was asked, what each layer said, how long it took.
  ///
  /// It asks exactly as ``get(_:priority:freshness:stale:deadline:file:line:)`` does, and shares flights
  /// with it; of a flight that it joins it sees what happens from then on. A miss is an answer too:
  /// it has a provenance and no value.
  ///
  /// - Parameters:
  ///   - priority: How urgent it is.
  ///   - freshness: Which answers will do.
  ///   - deadline: Fails if the end has not come by then.
  ///   - clock: By which the layers are timed.
  /// - Returns: A signal of one answer or more. It fails with ``CacheError/failed(_:underlying:)``,
  ///   which has what every layer said, if the question does.
  public func lookUp(
    _ key: Key, priority: Priority = .normal, freshness: Freshness = .any,
    deadline: Deadline? = nil, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal<Found<Value>> {
    .deferred {
      let trace = Trace(Timeline(clock))
      let lookup = Lookup(priority: priority, freshness: freshness, deadline: deadline)
        .heard(by: trace.listener)
      let values = isBeside(freshness) ? .empty : reportedIfUnnamed(key, lookup)
      let answer = deadline.map { values.ended(by: $0) } ?? values
      return
        answer
        .map { Found(value: $0.value, age: $0.age, provenance: trace.provenance) }
        .ifEmpty {
          .deferred { .just(Found(value: nil, age: nil, provenance: trace.provenance)) }
        }
        .recover { .fail(CacheError.failed(trace.provenance, underlying: $0)) }
    }
  }
}

/// Gathers what happens to one question.
private final class Trace: Sendable {
  let listener: Listener
  private let steps: Locked<[CacheEvent]>

  init(_ timeline: Timeline) {
    let steps = Locked<[CacheEvent]>([])
    self.steps = steps
    listener = Listener(timeline) { event in steps.withLock { $0.append(event) } }
  }

  var provenance: Provenance {
    Provenance(steps.withLock { $0 })
  }
}
