public import MillpondSignals

/// The terms of a get, which travel with it through the layers.
///
/// - Complexity: The default allocates nothing.
@frozen
public struct Lookup: Sendable {
  /// The answers that the get accepts.
  public let freshness: Freshness

  @usableFromInline let ownPriority: Priority

  /// The counting of an immediate answer.
  @usableFromInline var counting: Counting
  @usableFromInline var details: LookupDetails

  /// The place in the order of writes at which the get began; `none` where no layer above has taken
  /// it.
  @usableFromInline package var beginning: Revision

  /// Creates a lookup for any stored value, at normal priority and without a deadline.
  @inlinable
  public init() {
    freshness = .any
    ownPriority = .normal
    counting = .hits
    details = .usual
    beginning = .none
  }

  /// Creates a lookup.
  ///
  /// - Parameters:
  ///   - priority: The urgency of the work.
  ///   - freshness: The answers that the get accepts.
  ///   - stale: The use of stale values; nil leaves it to the policy.
  ///   - deadline: The time limit of the caller.
  @inlinable
  public init(
    priority: Priority = .normal, freshness: Freshness = .any, stale: StaleUse? = nil,
    deadline: Deadline? = nil
  ) {
    self.init(
      priority: priority, freshness: freshness, stale: stale, deadline: deadline, place: nil)
  }

  /// Creates a lookup with the place in the code of the get.
  @inlinable
  init(
    priority: Priority, freshness: Freshness, stale: StaleUse?, deadline: Deadline?, place: String?
  ) {
    self.freshness = freshness
    ownPriority = priority
    counting = .hits
    details =
      stale == nil && deadline == nil && place == nil
      ? .usual : .special(SpecialTerms(LookupTerms(deadline: deadline, stale: stale, place: place)))
    beginning = .none
  }

  /// Whether all terms are the defaults, so that lookups with one beginning are interchangeable.
  @inlinable
  package var isUsual: Bool {
    if case .usual = details { ownPriority == .normal && freshness == .any } else { false }
  }

  /// The place in the code of the get, in debug builds.
  @usableFromInline
  package var place: String? {
    details.special?.terms.place
  }

  /// The flight that makes the get, if one does.
  @usableFromInline
  package var flight: FlightHandle? {
    details.flight
  }

  /// Whether a stored value of this age is acceptable.
  public func admits(age: Duration) -> Bool {
    freshness.admits(age: age)
  }

  /// The urgency of the answer at this moment.
  ///
  /// It may change if several callers share the work.
  public var priority: Priority {
    details.flight?.priority ?? ownPriority
  }

  /// Calls `act` with the new priority after every rise; nil if the priority cannot change.
  package func onRaise(_ act: @escaping @Sendable (Priority) -> Void) -> Disposable? {
    guard let flight else { return nil }
    return flight.onRaise { act(flight.priority) }
  }

  /// The use of stale values; nil leaves it to the policy.
  ///
  /// Only a refreshing cache (``Source/remembered(in:_:clock:)``) uses it, and only in a get made
  /// directly there: a flight that is shared above it gets on default terms.
  public var stale: StaleUse? {
    details.special?.terms.stale
  }

  /// The time limit of the caller; the caller enforces it, and layers may take it as a hint.
  ///
  /// Shared work has none, since each caller has its own.
  public var deadline: Deadline? {
    details.special?.terms.deadline
  }

  /// Returns a copy for the layers below, whose fills have this place in the order of writes, or
  /// with `none` one of their own.
  @inlinable
  func begun(at revision: Revision) -> Lookup {
    var copy = self
    copy.beginning = revision
    return copy
  }

  /// Returns the lookup of a flight on behalf of all its callers.
  @usableFromInline
  package static func shared(_ freshness: Freshness, _ flight: FlightHandle) -> Lookup {
    Lookup(freshness: freshness, ownPriority: .normal, details: .flight(flight))
  }

  /// Returns the lookup of a flight whose callers ask like this.
  @inlinable
  func shared(by flight: FlightHandle) -> Lookup {
    known == nil ? .shared(freshness, flight) : asking(by: flight)
  }

  @usableFromInline
  func asking(by flight: FlightHandle) -> Lookup {
    let terms = LookupTerms(flight: flight, known: known)
    return Lookup(
      freshness: freshness, ownPriority: .normal, details: .special(SpecialTerms(terms)))
  }

  @usableFromInline
  init(
    freshness: Freshness, ownPriority: Priority, counting: Counting = .hits,
    details: LookupDetails, beginning: Revision = .none
  ) {
    self.freshness = freshness
    self.ownPriority = ownPriority
    self.counting = counting
    self.details = details
    self.beginning = beginning
  }

  /// Returns a copy with another counting of an immediate answer.
  @inlinable
  func counting(_ counting: Counting) -> Lookup {
    var copy = self
    copy.counting = counting
    return copy
  }

  /// Returns a copy that accepts other answers.
  @inlinable
  package func with(_ freshness: Freshness) -> Lookup {
    Lookup(
      freshness: freshness, ownPriority: ownPriority, counting: counting, details: details,
      beginning: beginning)
  }

  /// Returns a copy with one listener only, which does not follow changes of the priority.
  func reporting(onlyTo listener: any CacheEventListener) -> Lookup {
    var terms = details.terms
    terms.check = details.check
    (terms.listeners, terms.flight) = ([listener], nil)
    return Lookup(
      freshness: freshness, ownPriority: priority, counting: counting,
      details: .special(SpecialTerms(terms)), beginning: beginning)
  }

  /// Returns a copy with other terms.
  func with(_ change: (inout LookupTerms) -> Void) -> Lookup {
    var terms = details.terms
    change(&terms)
    return with(.special(SpecialTerms(terms)))
  }

  @inlinable
  func with(_ details: LookupDetails) -> Lookup {
    var copy = self
    copy.details = details
    return copy
  }
}

extension FillToken {
  /// Takes the token of a get with `lookup` that begins now.
  ///
  /// - Parameters:
  ///   - lookup: The terms of the get.
  ///   - lifetime: The span of the get's subscription, whose end makes the token void; nil for
  ///     none.
  @inlinable
  public init(for lookup: Lookup, during lifetime: Lifetime?) {
    let beginning = lookup.beginning == .none ? .next() : lookup.beginning
    self.init(beginning, lookup.freshness == .reload, lifetime)
  }
}

/// The events that a store counts for an immediate answer, in its statistics and for eviction, so
/// that one get is one hit or one miss.
@usableFromInline
enum Counting: Sendable {
  /// Hits only; the run that follows counts a miss.
  case hits

  /// Hits and misses; no run follows, since the caller joins a flight.
  case everything

  /// Nothing; the caller tests for an answer, and gets it afterwards.
  case nothing

  /// Nothing, and a hit that was counted before is taken back: its value was refused above, and the
  /// run that follows counts it.
  case takenBack

  /// Whether the lookup counts as the use of a value that it finds.
  @inlinable var countsUse: Bool {
    switch self {
    case .hits, .everything: true
    case .nothing, .takenBack: false
    }
  }
}
