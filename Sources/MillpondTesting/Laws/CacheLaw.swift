/// A rule that every cache keeps.
public enum CacheLaw: Sendable, Hashable, CaseIterable {
  /// Beside an empty cache, above or below, a cache is as it would be alone.
  case identity

  /// Of three layers it does not matter which two are put together first: for answers, failures,
  /// what is left in the layers, and who is told to stop.
  ///
  /// Nothing is told meanwhile: then a fill may be refused in one that is not in the other.
  case association

  /// Keys that are not changed change nothing, and keys that are changed twice are keys that are
  /// changed once by both.
  case mappedKeys

  /// The same for values, also where they can't be encoded or decoded.
  case mappedValues

  /// Sharing flights twice is sharing them once, and makes no difference where nobody shares.
  case reuse

  /// Who asks after a telling has returned never gets what it replaced, whatever is under way.
  case noLateWrite

  /// Every get ends, once, if what it asks ends.
  case everyGetEnds

  /// When everybody has left, or has been answered, no flight and no work goes on.
  case nothingLeft
}

/// What a cache did against a law.
public struct CacheBreach: Sendable, CustomStringConvertible {
  /// The law that it broke; nil for a comparison that is no law.
  public let law: CacheLaw?

  /// With which it can be found again.
  public let seed: UInt64

  /// The shortest history that was found to break it.
  public let steps: [String]

  /// The composition in which it was broken.
  let composition: String

  /// What was wrong after the steps.
  let finding: String

  /// The law, the seed, the steps and what came of them.
  public var description: String {
    let lines = steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    let what = law.map { "the law \($0)" } ?? "the likeness"
    return """
      \(what) is broken by \(composition), seed \(seed), in \(steps.count) steps:
      \(lines.joined(separator: "\n"))
      \(finding)
      """
  }
}
