import MillpondSignals

/// The terms that most gets do not have.
@usableFromInline
struct LookupTerms: Sendable {
  var deadline: Deadline?
  var stale: StaleUse?
  var flight: FlightHandle?
  var listeners: [any CacheEventListener] = []
  var place: String?

  /// The question whether the caller's stored value is still current.
  var revalidation: Revalidation?

  /// Receives the reason why the asked layer has no value, if its answer is reported.
  var explanation: MissExplanation?

  /// The check of values by a codec above the asked layer.
  var check: ValueCheck?

  @usableFromInline
  init(
    deadline: Deadline? = nil, stale: StaleUse? = nil, flight: FlightHandle? = nil,
    place: String? = nil, revalidation: Revalidation? = nil
  ) {
    self.deadline = deadline
    self.stale = stale
    self.flight = flight
    self.place = place
    self.revalidation = revalidation
  }
}

/// The terms of a get beyond the basic ones; most gets have none, so that a lookup is cheap to pass
/// on.
@usableFromInline
enum LookupDetails: Sendable {
  case usual

  /// The get is made by a flight for all its callers.
  case flight(FlightHandle)

  case special(SpecialTerms)

  /// The get has listeners, and the layer may explain a miss.
  case explained(MissExplanation)

  var terms: LookupTerms {
    switch self {
    case .usual: return LookupTerms()
    case .flight(let flight): return LookupTerms(flight: flight)
    case .special(let special): return special.terms
    case .explained(let explanation):
      var terms = explanation.outer.terms
      terms.explanation = explanation
      return terms
    }
  }

  /// The special terms, if any.
  @usableFromInline var special: SpecialTerms? {
    switch self {
    case .usual, .flight: nil
    case .special(let special): special
    case .explained(let explanation): explanation.outer.special
    }
  }

  @usableFromInline var flight: FlightHandle? {
    switch self {
    case .usual: nil
    case .flight(let flight): flight
    case .special(let special): special.terms.flight
    case .explained(let explanation): explanation.outer.flight
    }
  }

  /// Receives the reason why the asked layer has no value; nil if it is not reported.
  @usableFromInline var explanation: MissExplanation? {
    switch self {
    case .usual, .flight: nil
    case .special(let special): special.terms.explanation
    case .explained(let explanation): explanation
    }
  }

  /// Whether the get has listeners.
  @inlinable var hasListeners: Bool {
    switch self {
    case .usual: false
    case .flight(let flight): flight.hasListeners
    case .special(let special): special.hasListeners
    case .explained: true
    }
  }

  /// Whether the get has listeners or may get some.
  @inlinable var isObservable: Bool {
    switch self {
    case .usual: false
    case .flight, .explained: true
    case .special(let special): special.isObservable
    }
  }

  /// The listeners of the get.
  var listeners: [any CacheEventListener] {
    (special?.terms.listeners ?? []) + (flight?.listeners ?? [])
  }

  /// Whether `listener` receives the events.
  func areHeard(by listener: any CacheEventListener) -> Bool {
    listeners.contains { $0 === listener }
  }

  /// The check of values by a codec above, or above the flight that makes the get.
  var check: ValueCheck? {
    special?.terms.check ?? flight?.check
  }

  /// Sends an event to the listeners, to each once.
  func send(_ event: CacheEvent) {
    switch self {
    case .usual: break
    case .flight(let flight): flight.send(event)
    case .special(let special): special.send(event)
    case .explained(let explanation): explanation.outer.send(event)
    }
  }

  /// The clock of the listeners; a flight has one for all its callers.
  var time: ExactTime? {
    switch self {
    case .usual: nil
    case .flight(let flight): flight.clock.exact
    case .special(let special): special.time
    case .explained(let explanation): explanation.outer.time
    }
  }

  /// Returns the time by the clock of the listeners.
  @usableFromInline
  func timeOfListeners() -> Int64? { time?.now() }
}

/// The special terms of a get in one object.
@usableFromInline
final class SpecialTerms: Sendable {
  let terms: LookupTerms

  /// The clock that times the layers; nil if no listener is there or can join.
  let time: ExactTime?

  @usableFromInline
  init(_ terms: LookupTerms) {
    self.terms = terms
    time = terms.flight?.clock.exact ?? terms.listeners.first?.time
  }

  @usableFromInline var revalidation: Revalidation? {
    terms.revalidation
  }

  func send(_ event: CacheEvent) {
    for listener in terms.listeners { listener.receive(event) }
    terms.flight?.send(event, except: terms.listeners)
  }

  @usableFromInline var hasListeners: Bool {
    !terms.listeners.isEmpty || terms.flight?.hasListeners ?? false
  }

  @usableFromInline var isObservable: Bool {
    !terms.listeners.isEmpty || terms.flight != nil
  }
}

/// A holder of the reason why a layer has no value.
@usableFromInline
final class MissExplanation: Sendable {
  /// The details of the get, without the explanation of a layer around this one.
  @usableFromInline let outer: LookupDetails
  private let given = LazyObject()

  @usableFromInline
  init(of details: LookupDetails) {
    if case .explained(let explanation) = details {
      outer = explanation.outer
    } else {
      outer = details
    }
  }

  /// Keeps the reason; the latest counts.
  func give(_ reason: CacheEvent.Kind) {
    locked(reason).discard { exchange(&$0, with: reason) }
  }

  /// The reason, if one was given.
  @usableFromInline
  var reason: CacheEvent.Kind? {
    given.object == nil ? nil : locked(.miss).withLock { $0 }
  }

  private func locked(_ first: CacheEvent.Kind) -> Locked<CacheEvent.Kind> {
    given.locked(first)
  }
}
