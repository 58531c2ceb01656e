public import MillpondSignals

/// A running get of two layers: the upper one's answer, or else the lower one's, which is stored
/// above.
///
/// Sendable because only the deliveries of one layer after the other touch the mutable state, and
/// those are serial.
@usableFromInline
final class LayeredGet<Upper: Cache, Lower: Source>: @unchecked Sendable
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  @usableFromInline typealias Key = Upper.Key
  @usableFromInline typealias Value = Upper.Value

  @usableFromInline let upper: Upper
  @usableFromInline let below: LayerBelow<Lower>
  @usableFromInline let key: Key
  @usableFromInline let lookup: Lookup
  @usableFromInline let observer: Observer<Stamped<Value>>
  @usableFromInline let lifetime: Lifetime

  /// The caller's context; the upper layer may miss on a thread that works for other callers.
  @exclusivity(unchecked) @usableFromInline var caller: WorkContext?

  /// Taken before any layer is asked, so that every later write wins over the fill.
  @usableFromInline let token: FillToken

  /// The lifetime of the upper layer's run, which ends before the lower one is asked.
  @exclusivity(unchecked) @usableFromInline var upperLifetime: Lifetime?

  @exclusivity(unchecked) @usableFromInline var report: AnswerReport
  @exclusivity(unchecked) @usableFromInline var hadValue: Bool

  /// The failure of the upper layer.
  @exclusivity(unchecked) @usableFromInline var failure: (any Error)?

  /// The value of the upper layer that is too old, if the lower one can confirm it.
  @exclusivity(unchecked) @usableFromInline var stale: StaleValue<Value>?

  @inlinable
  init(
    _ upper: Upper, _ below: LayerBelow<Lower>, _ key: Key, _ lookup: Lookup,
    _ observer: Observer<Stamped<Value>>, _ lifetime: Lifetime, _ token: FillToken,
    _ stale: StaleValue<Value>? = nil
  ) {
    // Stored one by one: releasing a struct of both would look up its generic metadata.
    self.upper = upper
    self.below = below
    self.key = key
    self.lookup = lookup
    self.observer = observer
    self.lifetime = lifetime
    self.token = token
    self.stale = stale
    report = AnswerReport()
    // Set here because default values at the properties would be calls.
    caller = nil
    upperLifetime = nil
    hadValue = false
    failure = nil
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
    upper.getStamped(key, report.explained(lookup)).run(
      Observer(next: { self.nextOfUpper($0) }, other: { self.otherOfUpper($0) }), upperLifetime)
  }

  @inlinable
  func nextOfUpper(_ stamped: Stamped<Value>) {
    hadValue = true
    report.hit(stamped.age, key, lookup, as: upperLabel)
    observer.next(stamped)
  }

  @inlinable
  func otherOfUpper(_ event: Event<Never>) {
    guard event.isTerminal else { return observer.other(event) }
    report.ended(
      event, key, lookup, as: upperLabel, isStore: below.labels(of: upper).isUpperStore)
    upperLifetime?.end()
    if lifetime.isEnded { return }
    if hadValue { return observer.other(event) }
    if case .failed(let error) = event { failure = error }
    if case .completed = event, lookup.freshness.revalidates,
      let stale = upper.staleValue(of: key)
    {
      return findStale(stale)
    }
    WorkContext.run(in: caller) { getFromLower() }
  }

  /// Looks for a value of the upper layer that the lower one may confirm, then asks that.
  @usableFromInline
  func findStale(_ found: Signal<Stamped<Value>>) {
    let child = lifetime.child()
    found.run(
      Observer(next: { if self.stale == nil { self.stale = StaleValue($0) } }) { event in
        guard event.isTerminal else { return }
        child.end()
        if self.lifetime.isEnded { return }
        WorkContext.run(in: self.caller) { self.getFromLower() }
      }, child)
  }

  // MARK: The lower layer

  /// Asks the lower layer in the context of the caller.
  @inlinable
  func getFromLower() {
    if below.layer.isBeside(lookup.freshness) { return otherOfLower(.completed) }
    report = AnswerReport(lookup, as: lowerLabel)
    let terms = stale.map { lookup.asking($0.revalidation) } ?? lookup
    receive(below.layer.getStamped(key, report.explained(below.lookup(terms, token))), report)
  }

  /// Runs the lower layer's answer.
  @inlinable
  func receive(_ answer: Signal<Stamped<Value>>, _ report: AnswerReport) {
    self.report = report
    answer.run(
      Observer(next: { self.nextOfLower($0) }, other: { self.otherOfLower($0) }), lifetime)
  }

  @inlinable
  func nextOfLower(_ stamped: Stamped<Value>) {
    hadValue = true
    report.hit(stamped.age, key, lookup, as: lowerLabel)
    fill(stamped, token)
    observer.next(stamped)
  }

  @inlinable
  func fill(_ stamped: Stamped<Value>, _ token: FillToken) {
    let token = below.token(token)
    // Memory is filled without a change around the value, which would be copied.
    if let memory = upper.memory { return _ = memory.fill(key, MemoryHash(key), stamped, token) }
    let outcome = upper.apply(.fill(key, stamped, token))
    if lookup.hasListeners { upper.reportFailure(ofFill: outcome, key, lookup) }
  }

  /// Answers with the upper layer's value, which the lower one has confirmed.
  @usableFromInline
  func renew(_ renewed: Stamped<Value>) {
    // A value whose new time is over at once stays as it is, to be asked about again.
    if renewed.rest > 0 { fill(renewed, token.ofRenewal()) }
    if let above = lookup.revalidation, above.validator == renewed.validator,
      let answer = stale?.revalidation.answer
    {
      // The caller has this value.
      above.confirm(answer)
    } else {
      observer.next(renewed)
    }
    if !lifetime.isEnded { observer.completed() }
  }

  @inlinable
  func otherOfLower(_ event: Event<Never>) {
    if event.isTerminal {
      report.ended(
        event, key, lookup, as: lowerLabel, isStore: below.labels(of: upper).isLowerStore)
      if !hadValue, let renewed = stale?.renewed { return renew(renewed) }
    }
    if case .completed = event, !hadValue, let failure { return observer.failed(failure) }
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
