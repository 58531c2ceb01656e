/// What travels down with a question: how urgent it is, and which answers will do.
///
/// - Complexity: The default is free: nothing is allocated for it.
public struct Lookup: Sendable {
  /// Which answers will do.
  public let freshness: Freshness

  @usableFromInline let ownPriority: Priority
  @usableFromInline let details: LookupDetails?

  /// Asks for whatever is there, at normal priority, without a deadline.
  @inlinable
  public init() {
    freshness = .any
    ownPriority = .normal
    details = nil
  }

  /// Asks on the given terms.
  @inlinable
  public init(
    priority: Priority = .normal, freshness: Freshness = .any, deadline: Deadline? = nil
  ) {
    self.freshness = freshness
    ownPriority = priority
    details = deadline.map { LookupDetails(deadline: $0, flight: nil) }
  }

  /// Whether a kept value of this age will do.
  public func admits(age: Duration) -> Bool {
    freshness.admits(age: age)
  }

  /// How urgent the answer is now.
  ///
  /// If several askers share the work, it may change.
  public var priority: Priority {
    details?.flight?.current ?? ownPriority
  }

  /// Until when the asker will wait; whoever asked sees to that, layers may take it as a hint.
  ///
  /// Work that is shared has none: each asker has its own.
  public var deadline: Deadline? {
    details?.deadline
  }

  /// The question that a flight asks for all its askers.
  @usableFromInline
  package static func shared(_ freshness: Freshness, _ priority: FlightPriority) -> Lookup {
    Lookup(
      freshness: freshness, ownPriority: .normal,
      details: LookupDetails(deadline: nil, flight: priority))
  }

  init(freshness: Freshness, ownPriority: Priority, details: LookupDetails?) {
    self.freshness = freshness
    self.ownPriority = ownPriority
    self.details = details
  }
}

/// What most questions come without.
@usableFromInline
final class LookupDetails: Sendable {
  let deadline: Deadline?
  let flight: FlightPriority?

  @usableFromInline
  init(deadline: Deadline?, flight: FlightPriority?) {
    self.deadline = deadline
    self.flight = flight
  }
}
