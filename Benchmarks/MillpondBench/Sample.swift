/// The result of a row: a figure, what it is compared with, and what was promised.
struct Sample: Encodable {
  let name: String
  let summary: String
  let unit: String

  /// The figure of Millpond; nil if the system can't measure it.
  var value: Double?

  /// The figures of the least possible work, or of what others use, in the same unit.
  var floors: [Floor] = []

  var targets: [Target] = []

  /// Whether the work was done: its result was compared with the expected one.
  var isSumRight = true

  /// The reason why nothing was measured.
  var note: String?

  /// A figure that ours is compared with.
  struct Floor: Encodable {
    let name: String
    let value: Double?
  }

  /// The verdict on the row.
  enum Verdict: String {
    case met
    case missed
    case wrong = "WRONG"

    /// Without targets, or if nothing was measured.
    case none = ""
  }

  /// Returns a floor's figure.
  ///
  /// - Parameter name: The name of the floor; nil for the first.
  func floor(_ name: String? = nil) -> Double? {
    floors.first { name == nil || $0.name == name }?.value
  }

  var verdict: Verdict {
    if !isSumRight { return .wrong }
    let kept = targets.compactMap { $0.isKept(by: self) }
    return kept.isEmpty ? .none : kept.allSatisfy(\.self) ? .met : .missed
  }
}

/// A promise about a figure, which is kept if one of its bounds is.
struct Target: Encodable {
  /// The greatest figure, in the unit of the row.
  var atMost: Double?

  /// The least figure.
  var atLeast: Double?

  /// The greatest multiple of a floor.
  var times: Double?

  /// The greatest difference from a floor.
  var over: Double?

  /// The name of the floor; nil for the first.
  var floor: String?

  /// Returns whether the promise is kept; nil if that can't be said.
  func isKept(by sample: Sample) -> Bool? {
    guard let value = sample.value else { return nil }
    let floor = sample.floor(floor)
    let bounds = [
      atMost.map { value <= $0 }, atLeast.map { value >= $0 },
      floor.flatMap { floor in times.map { value <= $0 * floor } },
      floor.flatMap { floor in over.map { value <= floor + $0 } },
    ].compactMap(\.self)
    return bounds.isEmpty ? nil : bounds.contains(true)
  }

  /// Returns the promise in words.
  ///
  /// - Parameter first: The floor that is meant if none is named.
  func text(beside first: Sample.Floor?) -> String {
    let name = floor ?? first?.name ?? "floor"
    return [
      atMost.map { "≤ \(short($0))" }, atLeast.map { "≥ \(short($0))" },
      times.map { "≤ \(short($0)) × \(name)" }, over.map { "≤ \(name) + \(short($0))" },
    ].compactMap(\.self).joined(separator: " or ")
  }
}
