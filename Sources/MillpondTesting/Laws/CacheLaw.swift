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
