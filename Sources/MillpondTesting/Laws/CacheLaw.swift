/// A rule that every cache keeps.
public enum CacheLaw: Sendable, Hashable, CaseIterable {
  /// A cache with an empty cache above or below it behaves as it does alone.
  case identity

  /// The grouping of three layers makes no difference to answers, failures, stored values and
  /// cancellations.
  ///
  /// No write is made while a get waits, because a fill might then be refused in one grouping only.
  case association

  /// A key mapping that changes nothing has no effect, and two mappings equal their composition.
  case mappedKeys

  /// The same law for values, including values that cannot be encoded or decoded.
  case mappedValues

  /// Sharing flights twice equals sharing them once, and has no effect without concurrent gets.
  case reuse

  /// A get that starts after a write has returned never gets the replaced value, whatever is in
  /// flight.
  case noLateWrite

  /// Every get ends exactly once, if the sources it asks end.
  case everyGetEnds

  /// After all subscribers have left or been answered, no flight and no work remains.
  case nothingLeft
}

/// A violation of a law by a cache.
public struct CacheBreach: Sendable, CustomStringConvertible {
  /// The law that was broken; nil for a comparison that is no law.
  public let law: CacheLaw?

  /// The seed that reproduces the breach.
  public let seed: UInt64

  /// The shortest history found that breaks the law.
  public let steps: [String]

  /// The composition that broke the law.
  let composition: String

  /// The violation after the steps.
  let finding: String

  /// The law, the seed, the steps and their result.
  public var description: String {
    let lines = steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    let what = law.map { "the law \($0)" } ?? "the comparison"
    return """
      \(what) is broken by \(composition), seed \(seed), in \(steps.count) steps:
      \(lines.joined(separator: "\n"))
      \(finding)
      """
  }
}
