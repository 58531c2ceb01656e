public import MillpondSignals

/// The history of a get: the layers that were asked, in order, with their answers, durations, and
/// the age of the value.
public struct Provenance: Sendable, CustomStringConvertible {
  /// The events of the get, in order.
  public let steps: [CacheEvent]

  init(_ steps: [CacheEvent]) {
    self.steps = steps
  }

  /// The layer that had the value, or confirmed the one of an upper layer; nil if none did.
  public var origin: String? {
    steps.first { step in
      switch step.kind {
      case .hit, .revalidated: true
      default: false
      }
    }?.layer
  }

  /// The events in one line.
  public var description: String {
    steps.isEmpty ? "no layer was asked" : steps.map(\.description).joined(separator: "; ")
  }
}

/// A value, or a miss, with its provenance.
public struct Found<Value: Sendable>: Sendable {
  /// The value; nil if no layer had one.
  public let value: Value?

  /// The age of the value.
  public let age: Duration?

  /// The layers that were asked, and their answers.
  public let provenance: Provenance
}

extension Source {
  /// Returns the value for `key` with its provenance: the layers that were asked, their answers and
  /// durations.
  ///
  /// The get is the same as ``get(_:priority:freshness:stale:deadline:file:line:)`` and shares
  /// flights with it; of a flight that it joins it sees later events only. A miss is an answer with
  /// a provenance and no value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - priority: The urgency of the work.
  ///   - freshness: The answers that the get accepts.
  ///   - deadline: The time limit of the caller: the get fails if it has not ended by then.
  ///   - clock: The clock that measures the durations.
  /// - Returns: A signal of one or more answers. If the get fails, it fails with
  ///   ``CacheError/failed(_:underlying:)``, which contains the answers of all layers.
  public func lookUp(
    _ key: Key, priority: Priority = .normal, freshness: Freshness = .any,
    deadline: Deadline? = nil, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal<Found<Value>> {
    .deferred {
      let trace = Trace(ExactTime(clock))
      let lookup = Lookup(priority: priority, freshness: freshness, deadline: deadline)
        .reporting(by: trace)
      let values = isBeside(freshness) ? .empty : layerAnswer(key, lookup).stampedValues()
      let answer = deadline.map { values.ended(by: $0) { String(withoutSecrets: key) } } ?? values
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

extension Trace {
  fileprivate var provenance: Provenance {
    Provenance(steps)
  }
}
