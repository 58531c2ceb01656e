/// A violation of a law.
public struct Breach<Law: Sendable & Hashable>: Sendable, CustomStringConvertible {
  /// The law that was broken.
  public let law: Law

  /// The seed that reproduces the breach; nil if nothing was random.
  public let seed: UInt64?

  /// The shortest program found that breaks the law, step by step; empty if the law has none.
  public let steps: [String]

  /// The violation in words.
  public let finding: String

  package init(_ law: Law, seed: UInt64? = nil, steps: [String] = [], _ finding: String) {
    self.law = law
    self.seed = seed
    self.steps = steps
    self.finding = finding
  }

  /// The law, the seed, the steps and the violation.
  public var description: String {
    let start = "the law \(law) is broken" + (seed.map { ", seed \($0):" } ?? ":")
    let lines = steps.map { "  \($0)" }
    if lines.isEmpty { return "\(start) \(finding)" }
    return ([start] + lines + [finding]).joined(separator: "\n")
  }
}
