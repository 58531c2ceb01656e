/// A promise that every cache and every composition keeps.
public enum HistoryRule: Sendable, Hashable, CaseIterable {
  /// A value was made by a write or an answer of the origin, for the key that is asked for.
  case made

  /// A get never sees a value that was overwritten or removed before the get began.
  ///
  /// What is written is visible when the call returns. An answer of the origin counts as old as the
  /// moment in which the origin was asked. The end of a scope removes everything.
  case current

  /// Nothing shows what the origin sent after its run was cancelled or had ended.
  case cancelled

  /// What was set, and not removed since, is found, also after the process was killed.
  case kept

  /// After everything was removed, or the scope has ended, nothing from before is in a file.
  case erased

  /// A state shows only what is kept.
  case shown

  /// After the end of a scope, nothing is fetched for a get that began before it.
  case parted

  /// No value is delivered that is older than the policy of the composition, or a time to live, lets
  /// any value be.
  ///
  /// A clock that is set back adds at most one time to live, from then on.
  case usable

  /// A get that takes no stale value gets none.
  case fresh

  /// A get makes one fetch at most.
  case fetchedOnce

  /// A get that got a stale value at once has a new one fetched, also if it leaves.
  case revalidated

  /// As long as a failure is remembered, the origin is not asked again.
  case failureRemembered

  /// One get is one hit or one miss of the layer that it asks first.
  case counted

  /// Every call returns, whatever lock a user holds around it and takes in the observers.
  case returned

  /// Every get ends once, and every write has an outcome.
  case ended

  /// The origin's run is cancelled when nobody waits for it any more.
  case abandoned

  /// No closure of a subscription runs after its disposal has returned.
  case silent
}

/// A program after which a promise was broken.
public struct HistoryFailure: Sendable, CustomStringConvertible {
  /// The promise.
  public let rule: HistoryRule

  /// The number with which the program is found again.
  public let seed: UInt64

  /// The shortest program that was found, a line for each step and for what followed from it.
  public let steps: [String]

  /// What was seen, and why no order of the calls allows it.
  public let finding: String

  let program: [HistoryStep]

  /// The rule, the seed, the steps and the judgement.
  public var description: String {
    """
    the rule “\(rule)” is broken, seed \(seed):
    \(steps.map { "  \($0)" }.joined(separator: "\n"))
    \(finding)
    """
  }
}
