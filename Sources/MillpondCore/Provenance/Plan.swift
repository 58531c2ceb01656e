extension Source {
  /// Who would be asked for `key` now, in order, without asking anyone.
  ///
  /// Stores say what they know without reading it; nothing is counted as use. By the time of a get
  /// it may have changed.
  public func plan(for key: Key) -> [PlannedStep] {
    var steps: [PlannedStep] = []
    _ = layout(for: key).plan(into: &steps)
    return steps
  }
}

/// What would happen at one layer.
public struct PlannedStep: Sendable, CustomStringConvertible {
  /// What would happen.
  public enum Expectation: Sendable, Hashable {
    /// It has the value: nobody below would be asked.
    case answers

    /// It has no value.
    case misses

    /// It would be asked; what it has can't be told without.
    case isAsked

    /// A flight of this age would be joined: nobody below would be asked anew.
    case joins(age: Duration)
  }

  /// The layer's name; what it is, if it has none.
  public let layer: String

  /// What would happen.
  public let expectation: Expectation

  /// One line about it.
  public var description: String {
    switch expectation {
    case .answers: "\(layer): has it"
    case .misses: "\(layer): hasn't it"
    case .isAsked: "\(layer): is asked"
    case .joins(let age): "\(layer): joins a flight of \(age.brief)"
    }
  }
}

extension Layout {
  /// Adds what would happen here; true if nothing would happen below.
  func plan(into steps: inout [PlannedStep]) -> Bool {
    guard let first = parts.first else {
      steps.append(PlannedStep(layer: label, expectation: expectation))
      return holds == true
    }
    // What is there at once needs no flight.
    if let flight, !first.answersAtOnce {
      steps.append(PlannedStep(layer: label, expectation: .joins(age: flight.age)))
      return true
    }
    return parts.contains { $0.plan(into: &steps) }
  }

  private var expectation: PlannedStep.Expectation {
    holds.map { $0 ? .answers : .misses } ?? .isAsked
  }

  private var answersAtOnce: Bool {
    parts.first?.answersAtOnce ?? (holds == true)
  }
}
