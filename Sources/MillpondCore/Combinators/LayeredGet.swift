public import MillpondSignals

/// A running get of two layers: the upper one's answer, or else the lower one's, which is stored
/// above.
///
/// Sendable because only the deliveries of one layer after the other touch the mutable state, and
/// those are serial.
@usableFromInline
@_fixed_layout
final class LayeredGet<Upper: Cache, Lower: Source>: @unchecked Sendable
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  @usableFromInline typealias Key = Upper.Key
  @usableFromInline typealias Value = Upper.Value

  @usableFromInline let upper: Upper
  @usableFromInline let below: LayerBelow<Lower>
  @usableFromInline let key: Key
  @usableFromInline let lookup: Lookup
  @usableFromInline let observer: Observer<Answer<Value>>
  @usableFromInline let lifetime: Lifetime

  /// The caller's context; the upper layer may miss on a thread that works for other callers.
  @exclusivity(unchecked) @usableFromInline var caller: WorkContext?

  /// Taken before any layer is asked, so that every later write wins over the fill.
  @usableFromInline let token: FillToken

  /// The lifetime of the upper layer's run, which ends before the lower one is asked.
  @exclusivity(unchecked) @usableFromInline var upperLifetime: Lifetime?

  @exclusivity(unchecked) @usableFromInline var report = AnswerReport()
  @exclusivity(unchecked) @usableFromInline var isAnswered = false

  /// The failure of the upper layer.
  @exclusivity(unchecked) @usableFromInline var failure: (any Error)?

  /// Why there is no value: a stored one that may be confirmed, or else what the first layer said.
  ///
  /// In an object, created when there is a reason: a generic enum would look up its metadata in the
  /// release of every get, a tenth of a miss.
  @exclusivity(unchecked) @usableFromInline var reason: SerialState<Answer<Value>>?

  @inlinable
  init(
    _ upper: Upper, _ below: LayerBelow<Lower>, _ key: Key, _ lookup: Lookup,
    _ observer: Observer<Answer<Value>>, _ lifetime: Lifetime, _ token: FillToken,
    _ reason: Answer<Value>? = nil
  ) {
    // Stored one by one: releasing a struct of both would look up its generic metadata.
    self.upper = upper
    self.below = below
    self.key = key
    self.lookup = lookup
    self.observer = observer
    self.lifetime = lifetime
    self.token = token
    if let reason { self.reason = SerialState(reason) }
  }

  @inlinable var upperLabel: String? { below.labels(of: upper).upper }
  @inlinable var lowerLabel: String? { below.labels(of: upper).lower }

  // MARK: The upper layer

  /// Asks the upper layer, and then the lower one.
  @inlinable
  func start() {
    caller = WorkContext.current
    report = AnswerReport(lookup, as: upperLabel)
    let upperLifetime = lifetime.child()
    self.upperLifetime = upperLifetime
    // A store may note what the get has seen, for the fill.
    upper.answers(key, lookup.begun(at: token.revision)).run(
      Observer(next: { self.nextOfUpper($0) }, other: { self.otherOfUpper($0) }), upperLifetime)
  }

  @inlinable
  func nextOfUpper(_ answer: Answer<Value>) {
    report.received(answer, key, lookup, as: upperLabel)
    if answer.isFound { send(answer) } else { reason = SerialState(answer) }
  }

  @inlinable
  func send(_ answer: Answer<Value>) {
    isAnswered = true
    observer.next(answer)
  }

  @inlinable
  func otherOfUpper(_ event: Event<Never>) {
    guard event.isTerminal else { return observer.other(event) }
    report.ended(
      event, key, lookup, as: upperLabel, isStore: below.labels(of: upper).isUpperStore)
    upperLifetime?.end()
    if lifetime.isEnded { return }
    if isAnswered { return observer.other(event) }
    if case .failed(let error) = event { failure = error }
    WorkContext.run(in: caller) { askLower() }
  }

  // MARK: The lower layer

  /// Asks the lower layer in the context of the caller.
  @inlinable
  func askLower() {
    if below.layer.isBeside(lookup.freshness) { return otherOfLower(.completed) }
    report = AnswerReport(lookup, as: lowerLabel)
    let terms = reason?.value.confirmable.map { lookup.asking(about: $0.validator) } ?? lookup
    receive(below.layer.answers(key, below.lookup(terms, token)), report)
  }

  /// Runs the lower layer's answers.
  @inlinable
  func receive(_ answers: Signal<Answer<Value>>, _ report: AnswerReport) {
    self.report = report
    answers.run(
      Observer(next: { self.nextOfLower($0) }, other: { self.otherOfLower($0) }), lifetime)
  }

  @inlinable
  func nextOfLower(_ answer: Answer<Value>) {
    report.received(answer, key, lookup, as: lowerLabel)
    switch answer {
    case .value(let stamped):
      fill(stamped, token)
      send(answer)
    case .notModified(let timeToLive): confirmed(timeToLive)
    case .stale, .tooOld, .undecodable: note(answer)
    }
  }

  /// Keeps the lower layer's reason, unless the upper one has a value that may be confirmed.
  @usableFromInline
  func note(_ answer: Answer<Value>) {
    let isBetter = reason?.value.confirmable == nil && answer.confirmable != nil
    if reason == nil || isBetter { reason = SerialState(answer) }
  }

  @inlinable
  func fill(_ stamped: Stamped<Value>, _ token: FillToken) {
    let token = below.token(token)
    // Memory is filled without a change around the value, which would be copied.
    if let memory = upper.memory { return _ = memory.fill(key, MemoryHash(key), stamped, token) }
    let outcome = upper.apply(.fill(key, stamped, token))
    if lookup.hasListeners { upper.reportFailure(ofFill: outcome, key, lookup) }
  }

  /// Answers with the upper layer's value, which the lower one has confirmed, or passes on that the
  /// caller's value is current.
  @usableFromInline
  func confirmed(_ timeToLive: TimeToLive?) {
    guard let stale = reason?.value.confirmable else {
      if lookup.known != nil { send(.notModified(timeToLive: timeToLive)) }
      return
    }
    let renewed = stale.confirmed(timeToLive)
    // A value whose new time is over at once stays as it is, to be asked about again.
    if renewed.rest > 0 { fill(renewed, token.ofRenewal()) }
    send(lookup.known == stale.validator ? .notModified(timeToLive: timeToLive) : .value(renewed))
  }

  @inlinable
  func otherOfLower(_ event: Event<Never>) {
    if event.isTerminal {
      report.ended(
        event, key, lookup, as: lowerLabel, isStore: below.labels(of: upper).isLowerStore)
    }
    if case .completed = event, !isAnswered {
      if let failure { return observer.failed(failure) }
      if let reason { observer.next(reason.value) }
      if lifetime.isEnded { return }
    }
    observer.other(event)
  }
}

extension Source {
  /// This source as a memory cache, with or without a name, which answers without a run.
  @inlinable
  var memory: MemoryCache<Key, Value>? {
    if Self.self == MemoryCache<Key, Value>.self { return self as? MemoryCache<Key, Value> }
    if Self.self == Named<MemoryCache<Key, Value>>.self {
      return (self as? Named<MemoryCache<Key, Value>>)?.base
    }
    return nil
  }

  /// The name under which a layer above reports this one; nil if this one reports by itself.
  ///
  /// Never nil for a memory cache, because it answers without a run.
  @usableFromInline
  var askedLabel: String? {
    memory == nil ? ownLabel : layerLabel
  }
}
