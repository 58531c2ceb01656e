public import MillpondSignals

/// What travels down with a question: how urgent it is, and which answers will do.
///
/// - Complexity: The default is free: nothing is allocated for it.
public struct Lookup: Sendable {
  /// Which answers will do.
  public let freshness: Freshness

  @usableFromInline let ownPriority: Priority

  /// What of an immediate answer is counted.
  @usableFromInline let counting: Counting
  @usableFromInline let details: LookupDetails

  /// Asks for whatever is there, at normal priority, without a deadline.
  @inlinable
  public init() {
    freshness = .any
    ownPriority = .normal
    counting = .hits
    details = .usual
  }

  /// Asks on the given terms.
  @inlinable
  public init(
    priority: Priority = .normal, freshness: Freshness = .any, stale: StaleUse? = nil,
    deadline: Deadline? = nil
  ) {
    self.init(
      priority: priority, freshness: freshness, stale: stale, deadline: deadline, place: nil)
  }

  /// Asks on the given terms, from a place in the code.
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
  }

  /// Whether it is asked on the usual terms: then one can stand for the other.
  @inlinable
  package var isUsual: Bool {
    isWithoutDetails && ownPriority == .normal && freshness == .any
  }

  @inlinable
  var isWithoutDetails: Bool {
    if case .usual = details { true } else { false }
  }

  /// Where in the code it was asked, in debug builds.
  @usableFromInline
  package var place: String? {
    details.special?.place
  }

  /// The flight that asks, if one does.
  @usableFromInline
  var flight: FlightHandle? {
    details.flight
  }

  /// Whether a kept value of this age will do.
  public func admits(age: Duration) -> Bool {
    freshness.admits(age: age)
  }

  /// How urgent the answer is now.
  ///
  /// If several askers share the work, it may change.
  public var priority: Priority {
    details.flight?.priority ?? ownPriority
  }

  /// Calls `act` with the new priority whenever the answer has become more urgent; nil if it can't.
  package func onRaise(_ act: @escaping @Sendable (Priority) -> Void) -> Disposable? {
    guard let flight else { return nil }
    return flight.onRaise { act(flight.priority) }
  }

  /// When a value that is not fresh may be the answer; nil if that is up to whoever remembers.
  ///
  /// Regarded by what remembers values (``Source/remembered(in:_:clock:)``) if it is asked directly: work
  /// that is shared above it is asked on the usual terms.
  public var stale: StaleUse? {
    details.special?.stale
  }

  /// Until when the asker will wait; whoever asked sees to that, layers may take it as a hint.
  ///
  /// Work that is shared has none: each asker has its own.
  public var deadline: Deadline? {
    details.special?.deadline
  }

  /// The question that a flight asks for all its askers.
  @usableFromInline
  package static func shared(_ freshness: Freshness, _ flight: FlightHandle) -> Lookup {
    Lookup(freshness: freshness, ownPriority: .normal, details: .flight(flight))
  }

  @usableFromInline
  init(
    freshness: Freshness, ownPriority: Priority, counting: Counting = .hits,
    details: LookupDetails
  ) {
    self.freshness = freshness
    self.ownPriority = ownPriority
    self.counting = counting
    self.details = details
  }

  /// The same lookup, of whose immediate answer something else is counted.
  @inlinable
  func counting(_ counting: Counting) -> Lookup {
    Lookup(freshness: freshness, ownPriority: ownPriority, counting: counting, details: details)
  }

  /// The same question, where other answers will do.
  @inlinable
  func with(_ freshness: Freshness) -> Lookup {
    Lookup(freshness: freshness, ownPriority: ownPriority, counting: counting, details: details)
  }

  /// The same question with other terms.
  func with(_ change: (inout LookupTerms) -> Void) -> Lookup {
    var terms = details.terms
    change(&terms)
    return Lookup(
      freshness: freshness, ownPriority: ownPriority, counting: counting,
      details: .special(SpecialTerms(terms)))
  }
}

extension FillToken {
  /// Draws the token of a question that is asked now, with `lookup`.
  @inlinable
  public init(for lookup: Lookup, during lifetime: Lifetime?) {
    self.init(.next(), lookup.freshness == .reload, lifetime)
  }
}

/// What a store counts of an immediate answer, in its statistics and for its eviction policy, so that
/// one get is one hit or one miss.
@usableFromInline
enum Counting: Sendable {
  /// A hit. A miss is counted by the run that follows.
  case hits

  /// A hit or a miss: no run follows, since the caller joins a flight.
  case everything

  /// Nothing: the caller looks whether an answer is there, and gets it afterwards.
  case nothing
}

/// What most questions come without.
@usableFromInline
struct LookupTerms: Sendable {
  var deadline: Deadline?
  var stale: StaleUse?
  var flight: FlightHandle?
  var listeners: [Listener] = []
  var place: String?

  /// Takes the reason for which the layer that is being asked has no value, where its answer is reported.
  var explainMiss: (@Sendable (CacheEvent.Kind) -> Void)?

  /// The check of the values by a codec above the layer that is being asked.
  var check: ValueCheck?

  @usableFromInline
  init(
    deadline: Deadline? = nil, stale: StaleUse? = nil, flight: FlightHandle? = nil,
    place: String? = nil
  ) {
    self.deadline = deadline
    self.stale = stale
    self.flight = flight
    self.place = place
  }
}

/// The terms of a question beside the usual ones: most come without, so that a question is light to carry.
@usableFromInline
enum LookupDetails: Sendable {
  case usual

  /// A flight asks, for all its callers.
  case flight(FlightHandle)

  case special(SpecialTerms)

  var terms: LookupTerms {
    switch self {
    case .usual: LookupTerms()
    case .flight(let flight): LookupTerms(flight: flight)
    case .special(let special): special.terms
    }
  }

  /// The special terms, if there are any.
  var special: LookupTerms? {
    if case .special(let special) = self { special.terms } else { nil }
  }

  @usableFromInline var flight: FlightHandle? {
    switch self {
    case .usual: nil
    case .flight(let flight): flight
    case .special(let special): special.terms.flight
    }
  }

  /// Whether anybody hears what happens to the question.
  @inlinable var isHeard: Bool {
    switch self {
    case .usual: false
    case .flight(let flight): flight.isHeard
    case .special(let special): special.isHeard
    }
  }

  /// Whether anybody hears, or may come to hear.
  @inlinable var isObservable: Bool {
    switch self {
    case .usual: false
    case .flight: true
    case .special(let special): special.isObservable
    }
  }

  /// Those that hear what happens to the question.
  var listeners: [Listener] {
    switch self {
    case .usual: []
    case .flight(let flight): flight.listeners
    case .special(let special): special.terms.listeners + (special.terms.flight?.listeners ?? [])
    }
  }

  /// The clock of those who listen; a flight tells the time for all its callers.
  var timeline: Timeline? {
    flight?.timeline ?? special?.listeners.first?.timeline
  }
}

/// The special terms of a question in one object.
@usableFromInline
final class SpecialTerms: Sendable {
  let terms: LookupTerms

  @usableFromInline
  init(_ terms: LookupTerms) {
    self.terms = terms
  }

  @usableFromInline var isHeard: Bool {
    !terms.listeners.isEmpty || terms.flight?.isHeard ?? false
  }

  @usableFromInline var isObservable: Bool {
    !terms.listeners.isEmpty || terms.flight != nil
  }

  @usableFromInline var wantsReasons: Bool {
    terms.explainMiss != nil
  }
}
