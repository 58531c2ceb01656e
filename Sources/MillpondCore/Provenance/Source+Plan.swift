import MillpondSignals

extension Source {
  /// Returns the layers that a get of `key` would ask now, in order, without asking them.
  ///
  /// Stores report what they know without reading; this does not count as a use. It may have
  /// changed by the time of a get.
  public func plan(for key: Key) -> [PlannedStep] {
    var steps: [PlannedStep] = []
    _ = topology(for: key).plan(into: &steps)
    return steps
  }
}

/// The expectation for one layer.
public struct PlannedStep: Sendable, CustomStringConvertible {
  /// The possible expectations.
  public enum Expectation: Sendable, Hashable {
    /// The layer has the value; no lower layer would be asked.
    case answers

    /// The layer has no value.
    case misses

    /// The layer would be asked; whether it has the value is unknown.
    case isAsked

    /// A flight of this age would be joined; no lower layer would be asked again.
    case joins(age: Duration)
  }

  /// The layer's name, also if it was given outside a policy; its title if it has none.
  public let layer: String

  /// The expectation.
  public let expectation: Expectation

  /// A single line about the step.
  public var description: String {
    switch expectation {
    case .answers: "\(layer): has the value"
    case .misses: "\(layer): no value"
    case .isAsked: "\(layer): is asked"
    case .joins(let age): "\(layer): joins a flight of \(age.brief)"
    }
  }
}

extension Topology {
  /// Adds the steps of this part; true if no lower part would be asked.
  ///
  /// - Parameter outer: The name of the wrapper around this part, if it has one.
  func plan(into steps: inout [PlannedStep], named outer: String? = nil) -> Bool {
    guard let first = parts.first else {
      steps.append(PlannedStep(layer: outer ?? label, expectation: expectation))
      return holds == true
    }
    // An immediate answer needs no flight.
    if let flight, !first.answersAtOnce {
      steps.append(PlannedStep(layer: outer ?? label, expectation: .joins(age: flight.age)))
      return true
    }
    // A name around several layers is that of none of them.
    let inner = role == .wrapper ? outer ?? name : nil
    return parts.contains { $0.plan(into: &steps, named: inner) }
  }

  private var expectation: PlannedStep.Expectation {
    holds.map { $0 ? .answers : .misses } ?? .isAsked
  }

  private var answersAtOnce: Bool {
    parts.first?.answersAtOnce ?? (holds == true)
  }
}
