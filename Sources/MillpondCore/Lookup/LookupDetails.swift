import MillpondSignals

/// The terms that most gets do not have.
@usableFromInline
struct LookupTerms: Sendable {
  var deadline: Deadline?
  var stale: StaleUse?
  var flight: FlightHandle?
  var listeners: [any CacheEventListener] = []
  var place: String?

  /// The validator of the caller's stored value, of which it asks whether it is still current.
  var known: Validator?

  /// The check of values by a codec above the asked layer.
  var check: ValueCheck?

  @usableFromInline
  init(
    deadline: Deadline? = nil, stale: StaleUse? = nil, flight: FlightHandle? = nil,
    place: String? = nil, known: Validator? = nil
  ) {
    self.deadline = deadline
    self.stale = stale
    self.flight = flight
    self.place = place
    self.known = known
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

  var terms: LookupTerms {
    switch self {
    case .usual: LookupTerms()
    case .flight(let flight): LookupTerms(flight: flight)
    case .special(let special): special.terms
    }
  }

  /// The special terms, if any.
  @usableFromInline var special: SpecialTerms? {
    switch self {
    case .usual, .flight: nil
    case .special(let special): special
    }
  }

  @usableFromInline var flight: FlightHandle? {
    switch self {
    case .usual: nil
    case .flight(let flight): flight
    case .special(let special): special.terms.flight
    }
  }

  /// The validator of the caller's stored value.
  @inlinable var known: Validator? {
    switch self {
    case .usual, .flight: nil
    case .special(let special): special.known
    }
  }

  /// Whether the get has listeners.
  @inlinable var hasListeners: Bool {
    switch self {
    case .usual: false
    case .flight(let flight): flight.hasListeners
    case .special(let special): special.hasListeners
    }
  }

  /// Whether the get has listeners or may get some.
  @inlinable var isObservable: Bool {
    switch self {
    case .usual: false
    case .flight: true
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
    }
  }

  /// The clock of the listeners; a flight has one for all its callers.
  var time: ExactTime? {
    switch self {
    case .usual: nil
    case .flight(let flight): flight.clock.exact
    case .special(let special): special.time
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

  @usableFromInline var known: Validator? {
    terms.known
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
