public import MillpondSignals

/// A running get of two layers: the upper one's answer, or else the lower one's, which is stored above.
///
/// Sendable because what varies is touched only by the deliveries of one layer after the other, which are
/// serial.
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

  /// The context of the caller: the upper layer may miss on a thread that works for others.
  @exclusivity(unchecked) @usableFromInline var caller: WorkContext?

  /// Drawn before any layer is asked: what is written from then on has to win.
  @usableFromInline let token: FillToken

  /// The lifetime of the upper layer's run, which ends before the lower one is asked.
  @exclusivity(unchecked) @usableFromInline var upperLifetime: Lifetime?

  @exclusivity(unchecked) @usableFromInline var report: AnswerReport
  @exclusivity(unchecked) @usableFromInline var hadValue: Bool

  /// The failure of the upper layer.
  @exclusivity(unchecked) @usableFromInline var failure: (any Error)?

  @inlinable
  init(
    _ upper: Upper, _ below: LayerBelow<Lower>, _ key: Key, _ lookup: Lookup,
    _ observer: Observer<Stamped<Value>>, _ lifetime: Lifetime
  ) {
    // One by one: to release a struct of both would look up its generic metadata.
    self.upper = upper
    self.below = below
    self.key = key
    self.lookup = lookup
    self.observer = observer
    self.lifetime = lifetime
    token = FillToken(for: lookup, during: lifetime)
    report = AnswerReport(lookup)
    // Initial values beside the properties would be calls.
    caller = nil
    upperLifetime = nil
    hadValue = false
    failure = nil
  }

  // MARK: The upper layer

  @inlinable
  func start() {
    // Memory answers at once: no run is made for it, unless a listener is to hear of it.
    if Upper.self == MemoryCache<Key, Value>.self, !lookup.isHeard,
      let memory = upper as? MemoryCache<Key, Value>
    {
      if let stamped = memory.look(key, lookup.freshness, .everything) {
        nextOfUpper(stamped)
        if !lifetime.isEnded { observer.completed() }
      } else if !lifetime.isEnded {
        askLower()
      }
      return
    }
    caller = WorkContext.current
    let upperLifetime = lifetime.child()
    self.upperLifetime = upperLifetime
    upper.answer(key, lookup, report).run(
      Observer(next: { self.nextOfUpper($0) }, other: { self.otherOfUpper($0) }), upperLifetime)
  }

  @inlinable
  func nextOfUpper(_ stamped: Stamped<Value>) {
    hadValue = true
    report.hit(stamped.age, key, lookup, as: upper.ownLabel)
    observer.next(stamped)
  }

  @inlinable
  func otherOfUpper(_ event: Event<Never>) {
    guard event.isTerminal else { return observer.other(event) }
    report.ended(event, key, lookup, as: upper.ownLabel)
    upperLifetime?.end()
    if lifetime.isEnded { return }
    if hadValue || event.isNestedTooDeeply { return observer.other(event) }
    if case .failed(let error) = event { failure = error }
    WorkContext.run(in: caller) { askLower() }
  }

  // MARK: The lower layer

  /// Asks the lower layer, in the context of the caller.
  @inlinable
  func askLower() {
    if below.layer.isBeside(lookup.freshness) { return otherOfLower(.completed) }
    report = AnswerReport(lookup)
    below.layer.answer(key, lookup, report).run(
      Observer(next: { self.nextOfLower($0) }, other: { self.otherOfLower($0) }), lifetime)
  }

  @inlinable
  func nextOfLower(_ stamped: Stamped<Value>) {
    hadValue = true
    report.hit(stamped.age, key, lookup, as: below.layer.ownLabel)
    let outcome = upper.apply(.fill(key, stamped, token))
    if lookup.isHeard { upper.reportFailure(ofFill: outcome, key, lookup) }
    observer.next(stamped)
  }

  @inlinable
  func otherOfLower(_ event: Event<Never>) {
    if event.isTerminal { report.ended(event, key, lookup, as: below.layer.ownLabel) }
    if case .completed = event, !hadValue, let failure { return observer.failed(failure) }
    observer.other(event)
  }
}

/// What a hit above does not need: it carries one object along, whatever is in the layers below.
@usableFromInline
final class LayerBelow<Layer: Source>: Sendable {
  @usableFromInline let layer: Layer

  @inlinable
  init(_ layer: Layer) {
    self.layer = layer
  }
}
