/// A promise that every cache and every composition keeps.
public enum HistoryRule: Sendable, Hashable, CaseIterable {
  /// Every value was made by a write or an answer of the origin, for the requested key.
  case made

  /// A get never sees a value that was overwritten or removed before the get began.
  ///
  /// A write is visible when its call returns. An answer of the origin counts as old as the moment
  /// in which the origin was asked. The end of a scope removes everything.
  case current

  /// No value that the origin sent after its run was cancelled or had ended is ever shown.
  case cancelled

  /// A value that was set, and not removed since, is found, even after the process was killed.
  case kept

  /// After the removal of everything, or the end of the scope, no file contains an earlier value.
  case erased

  /// A state shows only stored values.
  case shown

  /// After the end of a scope, nothing is fetched for a get that began before it.
  case parted

  /// No delivered value is older than the policy of the composition, or a time to live, ever
  /// allows.
  ///
  /// A clock that is set back adds at most one time to live, from then on.
  case usable

  /// A get that accepts no stale value receives none.
  case fresh

  /// A get makes at most one fetch.
  case fetchedOnce

  /// A get that receives a stale value at once starts a fetch of a new one, even if it leaves.
  case revalidated

  /// While a failure is remembered, the origin is not asked again.
  case failureRemembered

  /// One get is one hit or one miss of the first layer.
  case counted

  /// Every call returns, even if a user holds a lock around it and takes it in the observers.
  case returned

  /// Every get ends once, and every write has an outcome.
  case ended

  /// The origin's run is cancelled when no get waits for it any more.
  case abandoned

  /// No closure of a subscription runs after its disposal has returned.
  case silent
}

/// A program that breaks a rule.
public struct HistoryFailure: Sendable, CustomStringConvertible {
  /// The broken rule.
  public let rule: HistoryRule

  /// The seed that reproduces the program.
  public let seed: UInt64

  /// The shortest program found, with a line for each step and each of its effects.
  public let steps: [String]

  /// The observation, and the reason why no order of the calls allows it.
  public let finding: String

  let program: [HistoryStep]

  /// The rule, the seed, the steps and the finding.
  public var description: String {
    """
    the rule “\(rule)” is broken, seed \(seed):
    \(steps.map { "  \($0)" }.joined(separator: "\n"))
    \(finding)
    """
  }
}
